"""minicons or lmppl, run in their own environment: arguments are its name, a model, texts as JSON, and threads.

Each gets the token that starts a text, so that it scores the same tokens as we do, and goes through the texts in the
order given, in batches of the size asked for.
"""

import json
import math
import sys
import time

name, model, texts, threads = sys.argv[1:]
with open(texts, encoding="utf-8") as file:
    texts = json.load(file)

if name == "minicons":
    import torch
    from minicons import scorer

    lm = scorer.IncrementalLMScorer(model, "cpu")

    def score(batch: list[str]) -> list[float]:
        return lm.sequence_score(batch, bos_token=True)

else:
    import lmppl
    import torch

    lm = lmppl.LM(model)

    def score(batch: list[str]) -> list[float]:
        return [
            -math.log(one)
            for one in lm.get_perplexity([lm.tokenizer.bos_token + text for text in batch])
        ]


torch.set_num_threads(int(threads))  # lmppl asks for one
for line in sys.stdin:
    size = json.loads(line)["batch"]
    start = time.perf_counter()
    means = [one for i in range(0, len(texts), size) for one in score(texts[i : i + size])]
    print(json.dumps({"seconds": time.perf_counter() - start, "means": means}), flush=True)
