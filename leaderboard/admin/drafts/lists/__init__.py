"""Lists of problems: of a draft, and of another release to copy from. They are searched, filtered, and chosen from."""
