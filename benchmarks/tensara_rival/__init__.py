"""Runs Tensara's own engine and Podium's judge on the same problems and solutions, turn by turn on one GPU.

Nothing of Tensara is part of Podium. Fetch its engine and its problems, and check their licences before you publish
anything of them. The machine needs an NVIDIA GPU, nvcc on PATH, bubblewrap, and in Podium's environment torch 2.9 or
newer with triton, numpy, and nvidia-ml-py, with which the engine reads the GPU's clocks.

    pip install 'torch>=2.9' numpy nvidia-ml-py
    git clone https://github.com/tensara/tensara /tmp/tensara
    git clone https://github.com/tensara/problems /tmp/tensara-problems
    python -m benchmarks.tensara_rival --engine /tmp/tensara --problems /tmp/tensara-problems/problems \\
        --solutions benchmarks/tensara_solutions --repeats 3 --out rows.jsonl --gpu H200 --limit-seconds 1500
    python -m benchmarks.tensara_rival --out rows.jsonl        # only prints the table

A second run with the same --out measures what is left. `--only honest --repeats 3`, then `--only attack --repeats 1`,
saves the repeats of attacks. --timing ranked measures as a ranked track does; --sandbox names Podium's sandbox.

A solution is the file FOLDER/SLUG/KIND-NAME.cu or .py of kind `honest` or `attack`. Each repeat is a submission with a
comment of its own, so that neither engine has a build of it. The engine's seconds begin when its modules are imported,
and leave out its PTX and SASS listings. Podium's begin when its judge does, after the problem was packed, and include
the timing of the problem's reference.
"""
