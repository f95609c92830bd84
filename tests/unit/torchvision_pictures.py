#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Tenon developers
#
# Writes torchvision_pictures.h: what torchvision's preprocessing makes of synthetic pictures.
#
#     python3 tests/unit/torchvision_pictures.py > tests/unit/torchvision_pictures.h
import itertools

import numpy as np
import PIL
import torchvision
from PIL import Image
from torchvision import transforms
from torchvision.transforms import functional as transform

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

# Width, height, shorter side, width and height of the middle: smaller, with odd margins; larger;
# much smaller; one side as it is; a picture of one pixel.
CASES = [(37, 23, 16, 12, 11), (9, 14, 20, 20, 17), (300, 211, 24, 19, 24), (16, 40, 16, 13, 16),
         (1, 1, 3, 2, 2)]
MODES = [transforms.InterpolationMode.BILINEAR, transforms.InterpolationMode.BICUBIC]


def picture(width, height):
    y, x, c = np.mgrid[0:height, 0:width, 0:3]
    return ((x * 7 + y * 13 + c * 50 + x * y * (c + 1)) % 256).astype(np.uint8)


print("""/* SPDX-License-Identifier: Apache-2.0
 * SPDX-FileCopyrightText: The Tenon developers
 *
 * Written by torchvision_pictures.py: what torchvision %s (Pillow %s) makes of pictures of
 * width x height: the bytes of their middle after resizing, (height, width, 3), and the first and
 * last normalised number.
 */
/* clang-format off */
static const struct torchvision_picture {
	uint32_t interpolation, width, height, resize, crop_width, crop_height;
	float first, last;
	const char *bytes;
} torchvision_pictures[] = {""" % (torchvision.__version__.split("+")[0], PIL.__version__))
for (number, mode), case in itertools.product(enumerate(MODES), CASES):
    width, height, resize, crop_width, crop_height = case
    image = Image.fromarray(picture(width, height))
    image = transform.resize(image, [resize], mode)
    image = transform.center_crop(image, [crop_height, crop_width])
    x = transform.normalize(transform.to_tensor(image), MEAN, DEVIATION).numpy().ravel()
    print("\t{%d, %d, %d, %d, %d, %d, %.9ef, %.9ef,"
          % (number, width, height, resize, crop_width, crop_height, x[0], x[-1]))
    text = image.tobytes().hex()
    for i in range(0, len(text), 86):
        print('\t "%s"' % text[i:i + 86])
    print("\t},")
print("};")
