// The link of an invitation carries it in the fragment, which is not sent to the server: it goes into the field, not on.
const field = document.querySelector("[name=invitation]");
if (field && location.hash.startsWith("#pdt_")) {
  field.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, "", location.pathname);
}
