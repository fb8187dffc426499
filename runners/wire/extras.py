"""How to install Podium's extras, in words: no package index has Podium."""


def how_to_install(extra: str) -> str:
    return f"pip install 'dist/podium-….whl[{extra}]', with the wheel that `make dist` makes in a checkout"
