"""Actions that judge or void again what was judged before."""
