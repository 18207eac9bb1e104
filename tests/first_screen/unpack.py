#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Copies a recorded profile, and unpacks it where it is packed: unpack.py <from> <to>"""

import gzip
import pathlib
import sys

data = pathlib.Path(sys.argv[1]).read_bytes()
if sys.argv[1].endswith(".gz"):
    data = gzip.decompress(data)
pathlib.Path(sys.argv[2]).write_bytes(data)
