#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
"""Records the names and shapes of parameters and buffers of networks: tests/parity/model_names.h.

Run with torchvision and timm: python3 tests/parity/model_names.py > tests/parity/model_names.h
"""
import timm
import torch
import torchvision

WIDTH = 100


def resnet18():
    model = torchvision.models.resnet18(num_classes=10)
    model.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)  # the stem for small pictures
    return model


def tensors(model):
    """Parameters, then buffers, each as "name 64x3x3x3"."""
    for kind in (model.named_parameters(), model.named_buffers()):
        for name, tensor in kind:
            yield " ".join([name] + ["x".join(map(str, tensor.shape))] * bool(tensor.shape))


def show(name, model):
    line = "\t"
    print("\nstatic const char *const %s_tensors[] = {" % name)
    for text in tensors(model):
        item = '"%s",' % text
        if len(line.expandtabs(8)) + 1 + len(item) > WIDTH:
            print(line)
            line = "\t"
        line += item if line == "\t" else " " + item
    print(line + "\n};")


print("""/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by tests/parity/model_names.py with torchvision %s and timm %s: do not edit. */
/* clang-format off */""" % (torchvision.__version__, timm.__version__))
show("convnext_tiny", torchvision.models.convnext_tiny())
show("efficientnet_lite0", timm.create_model("efficientnet_lite0"))
show("resnet18", resnet18())
