"""Function problems as folders: read, checked and packed; `inside` holds what runs with the problem's class."""
