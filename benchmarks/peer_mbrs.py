"""mbrs' COMET, run in its own environment: arguments are a checkpoint, sources with candidates as JSON, and threads."""

import json
import sys
import time

import torch
from mbrs.metrics import MetricCOMET
from mbrs.metrics import comet as module

module.download_model = lambda name: name  # the checkpoint is a file here
torch.set_num_threads(int(sys.argv[3]))
metric = MetricCOMET(MetricCOMET.Config(model=sys.argv[1], batch_size=16))
with open(sys.argv[2], encoding="utf-8") as file:
    sources = json.load(file)

for _ in sys.stdin:
    start = time.perf_counter()
    with torch.inference_mode():
        scores = [
            metric.pairwise_scores(hyps, [ref], src)[:, 0].tolist() for src, hyps, ref in sources
        ]
    print(json.dumps({"seconds": time.perf_counter() - start, "scores": scores}), flush=True)
