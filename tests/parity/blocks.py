#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""What PyTorch computes for narrow versions of three networks of core/models, in training.

    python3 tests/parity/blocks.py > tests/parity/blocks.h
        records small versions, computed in f64; weights, pictures and labels are formulas of their
        index, with noise(k, i) a hash in [-1, 1):
            weight i of parameter k   sqrt(3 / fan in) noise(k, i); where the fan in, the elements
                                      of one output, is 1: 0.1 noise(k, i), plus 1 where the name
                                      ends in "weight"
            picture element i         noise(1000, i)
            label n                   3 n mod classes
    python3 tests/parity/blocks.py exchange BUILD NETWORK BATCH
        compares one at full size: weights go over in a safetensors file to BUILD/bench/exchange,
        which
        gives back logits, loss, gradients and running statistics in another.

Run with the newest PyTorch.
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


class BasicBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.downsample = None
        if stride != 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False),
                                            nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(y + (x if self.downsample is None else self.downsample(x)))


class ResNet18(nn.Module):
    def __init__(self, width=64, classes=10):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, width, 3, 1, 1, bias=False), nn.BatchNorm2d(width)
        self.layer1 = nn.Sequential(BasicBlock(width, width, 1), BasicBlock(width, width, 1))
        for stage in (2, 3, 4):
            outputs = width << (stage - 1)
            setattr(self, "layer%d" % stage, nn.Sequential(BasicBlock(outputs // 2, outputs, 2),
                                                           BasicBlock(outputs, outputs, 1)))
        self.fc = nn.Linear(8 * width, classes)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))


class DepthwiseSeparable(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        self.conv_dw = nn.Conv2d(inputs, inputs, kernel, stride, kernel // 2, groups=inputs,
                                 bias=False)
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv_pw, self.bn2 = nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        y = self.bn2(self.conv_pw(F.relu6(self.bn1(self.conv_dw(x)))))
        return x + y if self.adds else y


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride, expand):
        super().__init__()
        hidden = inputs * expand
        self.conv_pw, self.bn1 = nn.Conv2d(inputs, hidden, 1, bias=False), nn.BatchNorm2d(hidden)
        self.conv_dw = nn.Conv2d(hidden, hidden, kernel, stride, kernel // 2, groups=hidden,
                                 bias=False)
        self.bn2 = nn.BatchNorm2d(hidden)
        self.conv_pwl, self.bn3 = nn.Conv2d(hidden, outputs, 1, bias=False), nn.BatchNorm2d(outputs)
        self.adds = stride == 1 and inputs == outputs

    def forward(self, x):
        y = F.relu6(self.bn2(self.conv_dw(F.relu6(self.bn1(self.conv_pw(x))))))
        y = self.bn3(self.conv_pwl(y))
        return x + y if self.adds else y


class EfficientNetLite0(nn.Module):
    def __init__(self, width=32, classes=1000):
        super().__init__()
        self.conv_stem, self.bn1 = nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width)
        stages, inputs = [], width
        for expand, outputs, n, stride, kernel in (
                (1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
                (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)):
            outputs, blocks = outputs * width // 32, []
            for i in range(n):
                shape = inputs, outputs, kernel, 1 if i else stride
                blocks.append(DepthwiseSeparable(*shape) if expand == 1
                              else InvertedResidual(*shape, expand))
                inputs = outputs
            stages.append(nn.Sequential(*blocks))
        self.blocks, head = nn.Sequential(*stages), 1280 * width // 32
        self.conv_head, self.bn2 = nn.Conv2d(inputs, head, 1, bias=False), nn.BatchNorm2d(head)
        self.classifier = nn.Linear(head, classes)

    def forward(self, x):
        x = self.blocks(F.relu6(self.bn1(self.conv_stem(x))))
        return self.classifier(F.relu6(self.bn2(self.conv_head(x))).mean((2, 3)))


class Permute(nn.Module):
    def __init__(self, *axes):
        super().__init__()
        self.axes = axes

    def forward(self, x):
        return x.permute(self.axes)


class CNBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layer_scale = nn.Parameter(1e-6 * torch.ones(width, 1, 1))
        self.block = nn.Sequential(
            nn.Conv2d(width, width, 7, padding=3, groups=width), Permute(0, 2, 3, 1),
            nn.LayerNorm(width, 1e-6), nn.Linear(width, 4 * width), nn.GELU(),
            nn.Linear(4 * width, width), Permute(0, 3, 1, 2))

    def forward(self, x):
        return x + self.layer_scale * self.block(x)


class LayerNorm2d(nn.LayerNorm):
    def forward(self, x):
        return super().forward(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)


class ConvNeXtTiny(nn.Module):
    def __init__(self, width=96, classes=1000):
        super().__init__()
        features = [nn.Sequential(nn.Conv2d(3, width, 4, 4), LayerNorm2d(width, 1e-6))]
        for stage, n in enumerate((3, 3, 9, 3)):
            channels = width << stage
            if stage:
                features.append(nn.Sequential(LayerNorm2d(channels // 2, 1e-6),
                                              nn.Conv2d(channels // 2, channels, 2, 2)))
            features.append(nn.Sequential(*[CNBlock(channels) for _ in range(n)]))
        self.features = nn.Sequential(*features)
        self.classifier = nn.Sequential(LayerNorm2d(8 * width, 1e-6), nn.Flatten(),
                                        nn.Linear(8 * width, classes))

    def forward(self, x):
        return self.classifier(self.features(x).mean((2, 3), keepdim=True))


# Network and side of its pictures; width, side and learning rate of the small one.  The small
# EfficientNet is chaotic: with ten times the rate, f32 and f64 are far apart after four steps.
NETWORKS = {"resnet18": (ResNet18, 32, 8, 16, 1e-3),
            "efficientnet": (EfficientNetLite0, 64, 8, 64, 1e-4),
            "convnext": (ConvNeXtTiny, 64, 8, 32, 1e-3)}


def noise(k, n):
    h = numpy.arange(n, dtype=numpy.uint32) * numpy.uint32(2654435761) + numpy.uint32(k * 97)
    h = (h ^ (h >> numpy.uint32(15))) * numpy.uint32(2246822519)
    h = (h ^ (h >> numpy.uint32(13))) * numpy.uint32(3266489917)
    return torch.from_numpy((h >> numpy.uint32(8)).astype(numpy.float64) / 8388608 - 1)


def pictures(batch, side):
    return noise(1000, batch * 3 * side * side).float().reshape(batch, 3, side, side)


def labels(batch, classes):
    return torch.tensor([3 * i % classes for i in range(batch)])


# ---- Recording -----------------------------------------------------------------------------------


def fill(model):
    with torch.no_grad():
        for k, (name, p) in enumerate(model.named_parameters()):
            values = noise(k, p.numel()).reshape(p.shape)
            if p[0].numel() > 1:
                values = values * math.sqrt(3 / p[0].numel())
            else:
                values = 0.1 * values + (1 if name.endswith("weight") else 0)
            p.copy_(values.float())


def numbers(values):
    return ", ".join("%.9gf" % v if "." in "%.9g" % v or "e" in "%.9g" % v else "%.9g.0f" % v
                     for v in values)


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
	float logits[BLOCKS_CLASSES];    /* of the first picture, in training, before step 1 */
	float first_gradient;            /* 2-norm of the first parameter's gradient then */
	float gradient;                  /* of all gradients then */
	float losses[BLOCKS_STEPS];
	float evaluated[BLOCKS_CLASSES]; /* of the first picture afterwards, not in training */
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
            name, width, side, rate, numbers(logits), numbers([first]), numbers([every]),
            numbers(losses), numbers(model(x)[0].tolist()),
            numbers([norm_of([p.detach() for p in model.parameters()])]),
            numbers([norm_of(running)])))
    print("};")


# ---- Exchange ------------------------------------------------------------------------------------

TYPES = {torch.float32: ("F32", numpy.float32), torch.int64: ("I64", numpy.int64)}


def write_safetensors(path, tensors):
    header, at, parts = {}, 0, []
    for name, tensor in tensors.items():
        tag, dtype = TYPES[tensor.dtype]
        data = tensor.detach().numpy().astype(dtype).tobytes()
        header[name] = {"dtype": tag, "shape": list(tensor.shape),
                        "data_offsets": [at, at + len(data)]}
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
        tensors[name] = numpy.frombuffer(data[8 + size + begin:8 + size + end],
                                         dtype).reshape(entry["shape"])
    return tensors


def exchange(build, name, batch):
    torch.manual_seed(1)
    make, side = NETWORKS[name][:2]
    model = make()
    classes = list(model.parameters())[-1].numel()
    with torch.no_grad():
        for p in model.parameters():
            if p.abs().max() < 1e-4:
                p.uniform_(0.5, 1)  # else ConvNeXt's blocks hardly count
    with tempfile.TemporaryDirectory() as folder:
        given, found = os.path.join(folder, "given.safetensors"), os.path.join(folder,
                                                                               "found.safetensors")
        write_safetensors(given, model.state_dict())
        subprocess.run([os.path.join(build, "bench", "exchange"), name, str(batch), given, found],
                       check=True)
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
