// Passkeys and security keys: shows what works with JavaScript only, and says what went wrong in words.
const words = {
  NotAllowedError: "The key was not used: it was cancelled, took too long, or is not known here. Try again.",
  InvalidStateError: "This key is registered already.",
  SecurityError: "Keys work only at the address of the site, over https.",
};

if (window.PublicKeyCredential) {
  for (const part of document.querySelectorAll("[data-needs-keys]")) part.hidden = false;
}

document.addEventListener("allauth.error", (event) => {
  event.preventDefault(); // or allauth writes it to the console
  const said = document.getElementById("key-error") || document.createElement("p");
  said.id = "key-error";
  said.className = "notice error";
  said.setAttribute("role", "alert");
  said.textContent = words[event.detail.exception.name] || "The key could not be read. Try again, or use another method.";
  document.querySelector("main h1").after(said);
});
