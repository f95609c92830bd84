#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""What PyTorch makes of the networks of bench/networks.

    python3 tests/parity/blocks.py > tests/parity/blocks.h
        records small versions, computed in f64; weights, pictures and labels are formulas of their index, with noise(k, i)
        a hash in [-1, 1):
            weight i of parameter k   sqrt(3 / fan in) noise(k, i); of one axis: 0.1 noise(k, i), plus 1
                                      where the name ends in "weight"
            picture element i         noise(1000, i)
            label n                   3 n mod classes
    python3 tests/parity/blocks.py exchange BUILD NETWORK BATCH
        compares one at full size: weights go over in a safetensors file to BUILD/bench/exchange, which
        gives back logits, loss, gradients and running statistics in another.

Run with Debian's python3-torch (1.13.1).
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

import numpy
import torch
from torch import nn
from torch.nn import functional as F

STEPS, BATCH, CLASSES = 4, 4, 10


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.c1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.b1 = nn.BatchNorm2d(outputs)
        self.c2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.b2 = nn.BatchNorm2d(outputs)
        self.sc = None
        if stride != 1 or inputs != outputs:
            self.sc = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.b2(self.c2(F.relu(self.b1(self.c1(x)))))
        return F.relu(y + (x if self.sc is None else self.sc(x)))


class ResNet18(nn.Module):
    def __init__(self, width=64, classes=10):
        super().__init__()
        self.c, self.b = nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        layers, inputs = [], width
        for i in range(8):
            outputs = width << (i // 2)
            layers.append(Block(inputs, outputs, 2 if i and i % 2 == 0 else 1))
            inputs = outputs
        self.l, self.f = nn.Sequential(*layers), nn.Linear(8 * width, classes)

    def forward(self, x):
        return self.f(self.l(F.relu(self.b(self.c(x)))).mean((2, 3)))


class Inverted(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expand):
        super().__init__()
        hidden, layers = inputs * expand, []
        if expand != 1:
            layers += [nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden), nn.ReLU6()]
        layers += [nn.Conv2d(hidden, hidden, kernel, stride, kernel // 2, groups=hidden, bias=False),
                   nn.BatchNorm2d(hidden), nn.ReLU6(),
                   nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs)]
        self.m, self.adds = nn.Sequential(*layers), stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.m(x) if self.adds else self.m(x)


class EffNet(nn.Module):
    def __init__(self, width=32, classes=1000):
        super().__init__()
        layers, inputs = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU6()], width
        for expand, outputs, n, stride, kernel in (
                (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3), (6, 112, 3, 1, 5),
                (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
            outputs = outputs * width // 32
            for i in range(n):
                layers.append(Inverted(inputs, outputs, kernel, 1 if i else stride, expand))
                inputs = outputs
        head = 1280 * width // 32
        layers += [nn.Conv2d(inputs, head, 1, bias=False), nn.BatchNorm2d(head), nn.ReLU6()]
        self.m, self.f = nn.Sequential(*layers), nn.Linear(head, classes)

    def forward(self, x):
        return self.f(self.m(x).mean((2, 3)))


class ConvNeXtBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.dw, self.n = nn.Conv2d(width, width, 7, padding=3, groups=width), nn.LayerNorm(width, 1e-6)
        self.p1, self.p2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.g = nn.Parameter(1e-6 * torch.ones(width))

    def forward(self, x):
        y = self.n(self.dw(x).permute(0, 2, 3, 1))
        return x + (self.g * self.p2(F.gelu(self.p1(y)))).permute(0, 3, 1, 2)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXt(nn.Module):
    def __init__(self, width=96, classes=1000):
        super().__init__()
        layers = [nn.Conv2d(3, width, 4, 4), LayerNorm2d(width, 1e-6)]
        for stage, n in enumerate((3, 3, 9, 3)):
            channels = width << stage
            if stage:
                layers += [LayerNorm2d(channels // 2, 1e-6), nn.Conv2d(channels // 2, channels, 2, 2)]
            layers += [ConvNeXtBlock(channels) for _ in range(n)]
        self.m, self.n = nn.Sequential(*layers), nn.LayerNorm(8 * width, 1e-6)
        self.f = nn.Linear(8 * width, classes)

    def forward(self, x):
        return self.f(self.n(self.m(x).mean((2, 3))))


# Network and side of its pictures; width, side and learning rate of the small one.  The small EfficientNet
# is chaotic: with ten times the rate, f32 and f64 are far apart after four steps.
NETWORKS = {"resnet18": (ResNet18, 32, 8, 16, 1e-3), "efficientnet": (EffNet, 64, 8, 64, 1e-4),
            "convnext": (ConvNeXt, 64, 8, 32, 1e-3)}


def noise(k, n):
    h = numpy.arange(n, dtype=numpy.uint32) * numpy.uint32(2654435761) + numpy.uint32(k * 97)
    h = (h ^ (h >> numpy.uint32(15))) * numpy.uint32(2246822519)
    h = (h ^ (h >> numpy.uint32(13))) * numpy.uint32(3266489917)
    return torch.from_numpy((h >> numpy.uint32(8)).astype(numpy.float64) / 8388608 - 1)


def pictures(batch, side):
    return noise(1000, batch * 3 * side * side).float().reshape(batch, 3, side, side)


def labels(batch, classes):
    return torch.tensor([3 * i % classes for i in range(batch)])


# ---- Recording -------------------------------------------------------------------------------------


def fill(model):
    with torch.no_grad():
        for k, (name, p) in enumerate(model.named_parameters()):
            values = noise(k, p.numel()).reshape(p.shape)
            if p.dim() > 1:
                values = values * math.sqrt(3 / p[0].numel())
            else:
                values = 0.1 * values + (1 if name.endswith("weight") else 0)
            p.copy_(values.float())


def numbers(values):
    return ", ".join("%.9gf" % v if "." in "%.9g" % v or "e" in "%.9g" % v else "%.9g.0f" % v for v in values)


def norm_of(tensors):
    return math.sqrt(sum(t.double().square().sum().item() for t in tensors))


def record():
    torch.set_num_threads(1)
    print("""/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by tests/parity/blocks.py with PyTorch %s: do not edit. */
/* clang-format off */
#define BLOCKS_BATCH %d
#define BLOCKS_STEPS %d
#define BLOCKS_CLASSES %d

static const struct {
	const char *network;
	int width;
	int side;
	double rate;
	float logits[BLOCKS_CLASSES];    /* of the first picture, in training, before the first step */
	float first_gradient;            /* 2-norm of the first parameter's gradient then */
	float gradient;                  /* of all gradients then */
	float losses[BLOCKS_STEPS];
	float evaluated[BLOCKS_CLASSES]; /* logits of the first picture afterwards, not in training */
	float weights;                   /* 2-norm of all parameters afterwards */
	float buffers;                   /* of all running statistics afterwards */
} blocks[] = {""" % (torch.__version__, BATCH, STEPS, CLASSES))
    for name, (make, _, width, side, rate) in NETWORKS.items():
        model = make(width, CLASSES)
        fill(model)
        model.double().train()
        optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
        x, y, losses = pictures(BATCH, side).double(), labels(BATCH, CLASSES), []
        for step in range(STEPS):
            optimizer.zero_grad()
            out = model(x)
            loss = F.cross_entropy(out, y)
            loss.backward()
            if step == 0:
                logits = out[0].tolist()
                gradients = [p.grad for p in model.parameters()]
                first, every = norm_of(gradients[:1]), norm_of(gradients)
            losses.append(loss.item())
            optimizer.step()
        model.eval()
        running = [b for n, b in model.named_buffers() if "running" in n]
        print('\t{"%s", %d, %d, %g,\n\t {%s},\n\t %s, %s,\n\t {%s},\n\t {%s},\n\t %s, %s},' % (
            name, width, side, rate, numbers(logits), numbers([first]), numbers([every]), numbers(losses),
            numbers(model(x)[0].tolist()), numbers([norm_of([p.detach() for p in model.parameters()])]),
            numbers([norm_of(running)])))
    print("};")


# ---- Exchange --------------------------------------------------------------------------------------

TYPES = {torch.float32: ("F32", numpy.float32), torch.int64: ("I64", numpy.int64)}


def write_safetensors(path, tensors):
    header, at, parts = {}, 0, []
    for name, tensor in tensors.items():
        tag, dtype = TYPES[tensor.dtype]
        data = tensor.detach().numpy().astype(dtype).tobytes()
        header[name] = {"dtype": tag, "shape": list(tensor.shape), "data_offsets": [at, at + len(data)]}
        at += len(data)
        parts.append(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read_safetensors(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = {"F32": numpy.float32, "I64": numpy.int64}[entry["dtype"]]
        tensors[name] = numpy.frombuffer(data[8 + size + begin:8 + size + end], dtype).reshape(entry["shape"])
    return tensors


def exchange(build, name, batch):
    torch.manual_seed(1)
    make, side = NETWORKS[name][:2]
    model = make()
    classes = model.f.out_features
    with torch.no_grad():
        for p in model.parameters():
            if p.dim() == 1 and p.abs().max() < 1e-4:
                p.uniform_(0.5, 1)  # else ConvNeXt's blocks hardly count
    with tempfile.TemporaryDirectory() as folder:
        given, found = os.path.join(folder, "given.safetensors"), os.path.join(folder, "found.safetensors")
        write_safetensors(given, model.state_dict())
        subprocess.run([os.path.join(build, "bench", "exchange"), name, str(batch), given, found], check=True)
        results = read_safetensors(found)
    model.eval()
    x, y = pictures(batch, side), labels(batch, classes)
    expected = {"evaluated": model(x), "frozen": model(x)}
    model.train()
    out = model(x)
    loss = F.cross_entropy(out, y)
    loss.backward()
    expected.update({"logits": out, "loss": loss})
    expected.update({"gradient of " + n: p.grad for n, p in model.named_parameters()})
    expected.update({n: b for n, b in model.named_buffers()})
    assert sorted(expected) == sorted(results), set(expected) ^ set(results)
    # Some gradients are 0 but for rounding: a bias in front of a batch norm.
    worst, size = {}, max(p.grad.norm().item() for p in model.parameters())
    for key, tensor in expected.items():
        tensor = tensor.detach().double().numpy()
        error = numpy.linalg.norm(tensor - results[key]) / (numpy.linalg.norm(tensor) + 1e-3 * size)
        kind = key.split(" ")[0].split(".")[-1]
        if error >= worst.get(kind, (-1, ""))[0]:
            worst[kind] = error, key
    for kind, (error, key) in worst.items():
        print("%-20s worst relative error %.2e  %s" % (kind, error, key))
    return all(error < 2e-3 for error, _ in worst.values())


if __name__ == "__main__":
    if sys.argv[1:2] == ["exchange"]:
        sys.exit(not exchange(sys.argv[2], sys.argv[3], int(sys.argv[4])))
    record()
