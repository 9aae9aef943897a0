"""alibi-detect's MMD², run in its own environment: arguments are the files of x and y and the bandwidth."""

import json
import resource
import sys
import time

import numpy as np
import torch
from alibi_detect.utils.pytorch.distance import mmd2_from_kernel_matrix
from alibi_detect.utils.pytorch.kernels import GaussianRBF

x, y = (np.load(path) for path in sys.argv[1:3])
kernel = GaussianRBF(torch.tensor(float(sys.argv[3])))


def mmd2() -> float:
    with torch.no_grad():
        z = torch.cat([torch.from_numpy(x), torch.from_numpy(y)])
        matrix = kernel(z, z)
        matrix = matrix - torch.diag(matrix.diag())
        return float(mmd2_from_kernel_matrix(matrix, len(y), permute=False, zero_diag=False))


for _ in sys.stdin:
    start = time.perf_counter()
    value = mmd2()
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB
    print(json.dumps({"seconds": seconds, "value": value, "gib": peak}), flush=True)
