#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes a virtual environment with PyTorch for compare.py: environment.py FOLDER COMPILER

PyPI's PyTorch for Linux is the one for CUDA and asks for two gigabytes of CUDA's libraries. The
loader wants them, but nothing on the CPU calls them. So PyTorch comes alone, with what `import
torch` and its flop counter need, and beside it is put one library that goes by the names of all of
CUDA's: it defines every function that PyTorch's libraries leave open, and answers with 100, no
device. That is 545 MB to download and 1.3 GB on the disk, once.
"""

import pathlib
import re
import shutil
import subprocess
import sys

# 2.15.0 is the first version that counts the attention which it runs on a CPU.
PACKAGES = ["torch==2.15.0", "typing-extensions==4.16.0", "sympy==1.14.0", "mpmath==1.3.0"]
NO_DEVICE = 100
CUDA_LIBRARY = r"\(NEEDED\).*\[(lib(?:cu|nv|nccl)[^\]]*)\]"
# As nm prints it: an open symbol, and its version if it has one.
CUDA_SYMBOL = r" U (_*(?:cu|nv|nccl)\w+)(?:@(\S+))?"


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def stand_in(folder, compiler):
    """Puts CUDA's libraries, by name, into the folder of PyTorch's, where the loader looks for
    them.
    """
    libraries = sorted(folder.glob("lib*.so*"))
    names = set(re.findall(CUDA_LIBRARY, output("readelf", "-dW", *libraries)))
    symbols = sorted(set(re.findall(CUDA_SYMBOL, output("nm", "-D", *libraries))))
    code = f"long stand_in(void) {{ return {NO_DEVICE}; }}\n"
    code += "".join(
        f'long {symbol}(void) __attribute__((alias("stand_in")));\n' for symbol, _ in symbols
    )
    versions = {
        version: [s for s, v in symbols if v == version]
        for version in sorted({v for _, v in symbols if v})
    }
    script = folder / "stand_in.map"
    script.write_text(
        "".join(f"{version} {{ {'; '.join(of)}; }};\n" for version, of in versions.items())
    )
    library = folder / "stand_in.so"
    subprocess.run(
        [
            compiler,
            "-x",
            "c",
            "-w",
            "-shared",
            "-fPIC",
            f"-Wl,--version-script={script}",
            "-o",
            library,
            "-",
        ],
        input=code,
        text=True,
        check=True,
    )
    for name in names:
        (folder / name).symlink_to(library.name)
    print(f"{len(symbols)} functions of {len(names)} libraries of CUDA stood in for")


def main():
    folder, compiler = pathlib.Path(sys.argv[1]), sys.argv[2]
    python, made = folder / "bin" / "python", folder / "made"
    wanted = "\n".join([sys.version, *PACKAGES]) + "\n"
    if made.exists() and made.read_text() == wanted:
        print("environment: as it was left")
        return
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run(
        [
            python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-cache-dir",
            "--no-deps",
            "--only-binary=:all:",
            *PACKAGES,
        ],
        check=True,
    )
    site = output(python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))").strip()
    stand_in(pathlib.Path(site) / "torch" / "lib", compiler)
    print(
        "PyTorch",
        output(python, "-W", "ignore", "-c", "import torch; print(torch.__version__)").strip(),
    )
    made.write_text(wanted)


main()
