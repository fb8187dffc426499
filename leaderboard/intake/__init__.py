"""The rules by which submissions are taken in, and the kit to make one."""
