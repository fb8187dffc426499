"""The values that a browser sends of a form that nobody touched."""

from html.parser import HTMLParser


class SentForm(HTMLParser):
    """The fields of the form with the class or id `marked`, by name; files are left empty, buttons are not pressed."""

    def __init__(self, marked: str) -> None:
        super().__init__()
        self.marked = marked
        self.fields: dict[str, str] = {}
        self._is_inside = False
        self._textarea = self._select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = {name: value or "" for name, value in attrs}
        if tag == "form":
            self._is_inside = self.marked in (said.get("id"), *said.get("class", "").split())
        elif not self._is_inside:
            return
        elif tag == "textarea":
            self._textarea = said["name"]
            self.fields[self._textarea] = ""
        elif tag == "select":
            self._select = said["name"]
        elif tag == "option" and ("selected" in said or self._select not in self.fields):
            self.fields[self._select] = said["value"]
        elif tag == "input" and said.get("type") == "checkbox" and "checked" in said:
            self.fields[said["name"]] = said.get("value", "on")
        elif tag == "input" and said.get("type") not in ("file", "checkbox"):
            self.fields[said["name"]] = said.get("value", "")

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.fields[self._textarea] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._textarea:
            typed = self.fields[self._textarea].removeprefix("\n")  # the first newline is not content
            self.fields[self._textarea] = typed.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")
            self._textarea = ""
        elif tag == "select":
            self._select = ""
        elif tag == "form":
            self._is_inside = False


def sent_by(html: str, marked: str) -> dict[str, str]:
    parser = SentForm(marked)
    parser.feed(html)
    return parser.fields
