"""Reads a Makefile without running anything: variables, rules and the commands that make a target.

It understands what Makefiles of the PMPP layout use. Everything else is refused with the number of its line, above all
functions such as `$(shell …)`, because a value that is not understood could change the build.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from problems.formats.pmpp.errors import TaskRefused

MAX_TEXT = 20_000
"""Maximum length of an expanded text: variables that double each other would otherwise fill the memory."""
MAX_DEPTH = 50
_BUILT_IN = {"CC": "cc", "CXX": "g++", "RM": "rm -f"}
_ASSIGNMENT = re.compile(r"\s*(?:override\s+|export\s+)?([\w.-]+)\s*(\?=|::?=|\+=|!=|=)\s*(.*)")
_REFERENCE = re.compile(r"\$(?:\$|\(([^()]*)\)|\{([^{}]*)\}|(.))")
_NESTED = re.compile(r"\$[({][^(){}]*\$[({]")
_SUBSTITUTION = re.compile(r"([\w.-]+):([^=]*)=(.*)")
_DIRECTIVE = re.compile(r"\s*(-?include|sinclude|ifn?eq|ifn?def|else|endif|define|endef|vpath|undefine|load)\b")
_COMMENT = re.compile(r"(?<!\\)#.*")


@dataclass(frozen=True)
class Line:
    """A text and the number of the line where it begins, counted from one."""

    text: str
    number: int


@dataclass(frozen=True)
class Variable:
    """A variable's text; one that is not `is_lazy` has been expanded."""

    text: str
    number: int
    is_lazy: bool


@dataclass
class Rule:
    """How one target is made. A `%` in the target stands for any text."""

    target: str
    number: int
    prerequisites: list[str] = field(default_factory=list)
    recipe: list[Line] = field(default_factory=list)


class Makefile:
    """The variables and rules of one Makefile. Variables of the environment do not count."""

    def __init__(self, text: str, name: str = "Makefile") -> None:
        """Raises TaskRefused."""
        self._name = name
        self.variables: dict[str, Variable] = {}
        self._rules: dict[str, Rule] = {}
        self._open: list[Rule] = []
        for line in _logical_lines(text):
            self._read(line)

    def commands(self, target: str, files: Collection[str]) -> list[Line]:
        """The commands that make the target and what it depends on, expanded, in make's order.

        `files` are the files that are there. A file of the target's name does not count as made. Raises TaskRefused.
        """
        made: dict[str, list[Line]] = {}
        self._make(target, files, made, ())
        return [command for commands in made.values() for command in commands]

    def _make(self, target: str, files: Collection[str], made: dict[str, list[Line]], above: tuple[str, ...]) -> None:
        if target in made:
            return
        rule = self._rule_for(target, files)
        if rule is None:
            if target not in files:
                raise self._refused(None, f"no rule makes `{target}`", "Add the file or a rule")
            return
        if target in above:
            raise self._refused(rule.number, f"`{target}` depends on itself", "Remove the circle")
        if len(above) > MAX_DEPTH:
            raise self._refused(rule.number, f"`{target}` is needed by too many rules in a row", "Shorten the chain")
        for needed in rule.prerequisites:
            self._make(needed, files, made, (*above, target))
        automatic = _automatic(target, rule)
        made[target] = [Line(self._expand(line.text, line.number, automatic), line.number) for line in rule.recipe]

    def _rule_for(self, target: str, files: Collection[str]) -> Rule | None:
        rule = self._rules.get(target)
        if rule is not None and rule.recipe:
            return rule
        more = rule.prerequisites if rule is not None else []
        for pattern in (one for one in self._rules.values() if "%" in one.target):
            stem = _stem(pattern.target, target)
            if not stem:
                continue
            needed = [name.replace("%", stem) for name in pattern.prerequisites]
            if all(name in files or name in self._rules for name in needed):
                return Rule(target, pattern.number, [*needed, *more], pattern.recipe)
        return rule

    def _read(self, line: Line) -> None:
        if line.text.startswith("\t"):
            self._read_command(line)
            return
        text = _COMMENT.sub("", line.text).rstrip()
        if not text.strip():
            return
        if match := _DIRECTIVE.match(text):
            raise self._refused(
                line.number, f"`{match[1]}` is not understood", "Write the variables and rules without it"
            )
        if match := _ASSIGNMENT.fullmatch(text):
            self._assign(match[1], match[2], match[3], line.number)
        else:
            self._begin_rule(text, line.number)

    def _read_command(self, line: Line) -> None:
        if not line.text.strip():
            return
        if not self._open:
            raise self._refused(line.number, "a command stands before any rule", "Move it below its rule")
        for rule in self._open:
            rule.recipe.append(Line(line.text.strip(), line.number))

    def _assign(self, name: str, operator: str, text: str, number: int) -> None:
        self._open = []
        known = self.variables.get(name)
        if operator == "!=":
            raise self._refused(number, "`!=` runs a program", "Write the value itself")
        if operator == "?=" and known is not None:
            return
        if operator == "+=" and known is not None:
            added = text if known.is_lazy else self._expand(text, number)
            self.variables[name] = Variable(f"{known.text} {added}", number, known.is_lazy)
            return
        is_lazy = not operator.endswith(":=")
        self.variables[name] = Variable(text if is_lazy else self._expand(text, number), number, is_lazy)

    def _begin_rule(self, text: str, number: int) -> None:
        head, semicolon, command = text.partition(";")
        targets, colon, prerequisites = self._expand(head, number).partition(":")
        if not colon or prerequisites.startswith(":") or ":" in prerequisites:
            raise self._refused(number, "the line is neither a variable nor a plain rule", "Write `target: files`")
        if "=" in prerequisites:
            raise self._refused(number, "a variable of one target is not understood", "Use a variable of its own")
        needed = [word for word in prerequisites.split() if word != "|"]
        self._open = [self._rule(target, number) for target in targets.split()]
        for rule in self._open:
            rule.prerequisites += [word for word in needed if word not in rule.prerequisites]
            rule.recipe += [Line(command.strip(), number)] if semicolon and command.strip() else []

    def _rule(self, target: str, number: int) -> Rule:
        known = self._rules.setdefault(target, Rule(target, number))
        known.number = number
        return known

    def _expand(self, text: str, number: int, automatic: Mapping[str, str] | None = None, depth: int = 0) -> str:
        if depth > MAX_DEPTH:
            raise self._refused(number, "a variable refers to itself", "Write its value out")
        if _NESTED.search(text):
            raise self._refused(number, "a variable's name is computed", "Write the name out")

        def value(match: re.Match[str]) -> str:
            name = next((group for group in match.groups() if group is not None), "$")
            return "$" if name == "$" else self._value(name, number, automatic or {}, depth)

        found = _REFERENCE.sub(value, text)
        if len(found) > MAX_TEXT:
            raise self._refused(number, f"the line expands to more than {MAX_TEXT} characters", "Shorten it")
        return found

    def _value(self, name: str, number: int, automatic: Mapping[str, str], depth: int) -> str:
        if name in automatic:
            return automatic[name]
        if match := _SUBSTITUTION.fullmatch(name):
            words = self._value(match[1], number, automatic, depth).split()
            return " ".join(_with_suffix(word, match[2].strip(), match[3].strip()) for word in words)
        if not re.fullmatch(r"[\w.-]+", name):
            what = f"`$({name})` is a function of make, and nothing of a task runs while it is imported"
            raise self._refused(number, what, "Write its value out")
        variable = self.variables.get(name)
        if variable is None:
            return _BUILT_IN.get(name, "")
        return self._expand(variable.text, variable.number, automatic, depth + 1) if variable.is_lazy else variable.text

    def _refused(self, number: int | None, reason: str, remedy: str) -> TaskRefused:
        return TaskRefused(self._name, reason, remedy, number)


def _logical_lines(text: str) -> list[Line]:
    """The lines, each with those that a backslash joins to it."""
    lines: list[Line] = []
    joined = ""
    start = 1
    for number, raw in enumerate(text.splitlines(), start=1):
        start = start if joined else number
        if raw.endswith("\\"):
            joined += raw[:-1] + " "
            continue
        lines.append(Line(joined + (raw.lstrip() if joined else raw), start))
        joined = ""
    return [*lines, *([Line(joined, start)] if joined else [])]


def _stem(pattern: str, target: str) -> str:
    before, _, after = pattern.partition("%")
    fits = target.startswith(before) and target.endswith(after) and len(target) > len(before) + len(after)
    return target[len(before) : len(target) - len(after)] if fits else ""


def _automatic(target: str, rule: Rule) -> dict[str, str]:
    needed: Sequence[str] = rule.prerequisites
    return {"@": target, "<": needed[0] if needed else "", "^": " ".join(needed), "+": " ".join(needed)}


def _with_suffix(word: str, old: str, new: str) -> str:
    return word[: len(word) - len(old)] + new if old and word.endswith(old) else word
