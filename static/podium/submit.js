// The form to submit a file: it is checked as soon as it is chosen, and sent with a bar of its progress. Without this
// script the form is sent as any other, and its second button checks.
const CHECK_AGAIN_BYTES = 8 * 1024 * 1024; // larger files are not sent anew for each change of the form
const WAIT_MS = 400;
const mebibytes = (n) => `${(n / 1024 / 1024).toFixed(1)} MiB`;

class UploadForm {
  constructor(form) {
    this.form = form;
    this.file = form.querySelector("input[type=file]");
    this.report = document.querySelector("[data-report]");
    this.sending = form.querySelector("[data-sending]");
    this.isSending = false;
    this.request = null;
    this.show("[data-drop-hint]");
    this.show("[data-check-hint]");
    form.querySelector("[data-choose]").hidden = true;
    this.listen();
  }

  show(selector) {
    const found = document.querySelector(selector);
    if (found) found.hidden = false;
  }

  listen() {
    let waiting = null;
    this.form.addEventListener("change", (event) => {
      clearTimeout(waiting);
      if (event.target.name === "release") this.choose(event.target.value);
      else if (event.target === this.file) this.check();
      else if (!["note", "licence"].includes(event.target.name)) waiting = setTimeout(() => this.checkAgain(), WAIT_MS);
    });
    this.form.addEventListener("submit", (event) => {
      if (event.submitter?.name === "choose") return;
      event.preventDefault();
      if (event.submitter?.name === "check") this.check();
      else this.send();
    });
    this.form.querySelector("[data-stop]").addEventListener("click", () => this.request?.abort());
    window.addEventListener("pageshow", () => {
      const chosen = this.form.elements.release.value;
      if (chosen !== this.form.dataset.release) this.choose(chosen);
    });
    this.listenToDrops(this.form.querySelector("[data-drop]"));
  }

  listenToDrops(zone) {
    for (const name of ["dragenter", "dragover"]) {
      zone.addEventListener(name, (event) => {
        if (!event.dataTransfer.types.includes("Files")) return;
        event.preventDefault();
        zone.classList.add("over");
      });
    }
    for (const name of ["dragleave", "drop"]) zone.addEventListener(name, () => zone.classList.remove("over"));
    zone.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) return;
      event.preventDefault();
      if (event.dataTransfer.files.length > 1) return this.refuse("Drop one file at a time: put several into one zip.");
      this.file.files = event.dataTransfer.files;
      this.check();
    });
  }

  // Show the tracks of another release. All else that was filled in stays.
  async choose(slug) {
    const address = new URL(this.form.action, location.href);
    address.searchParams.set("release", slug);
    const answer = await fetch(address, { credentials: "same-origin" }).catch(() => null);
    const page = new DOMParser().parseFromString(answer ? await answer.text() : "", "text/html");
    if (this.form.elements.release.value !== slug) return; // chosen again meanwhile
    const part = page.querySelector("[data-of-release]");
    if (!part) return location.assign(address); // which says why: signed out, or no such release
    this.form.querySelector("[data-of-release]").replaceWith(part);
    htmx.process(part);
    this.form.action = address;
    this.form.dataset.release = slug;
    document.querySelector("#help ~ pre").replaceWith(page.querySelector("#help ~ pre"));
    history.replaceState(history.state, "", address);
    this.checkAgain();
  }

  checkAgain() {
    const file = this.file.files[0];
    if (!file || this.isSending) return;
    if (file.size <= CHECK_AGAIN_BYTES) this.check();
    else this.say("The form has changed since this check. “Check only” checks it again.");
  }

  // Whether there is a file that the site can take, before a byte of it is sent.
  isReady() {
    const file = this.file.files[0], most = Number(this.form.dataset.maxBytes);
    if (!file) this.refuse("Choose a file.");
    else if (!file.size) this.refuse(`${file.name} is empty. Choose a file that holds solutions.`);
    else if (file.size > most) {
      this.refuse(`${file.name} has ${mebibytes(file.size)}; the most that this site takes is ${mebibytes(most)}. Send fewer samples at a time.`);
    } else return true;
    return false;
  }

  refuse(words) {
    this.report.replaceChildren(paragraph("notice error", words));
    this.askCoverage();
  }

  say(words) { this.report.prepend(paragraph("notice warning", words)); }

  check() {
    if (!this.isReady()) return;
    this.form.querySelector("[data-drop]").after(this.sending);
    this.begin("Checking", { check: "1" }, (answer) => this.showReport(answer.responseText));
  }

  send() {
    if (!this.isReady() || this.isSending) return;
    this.isSending = true;
    this.form.querySelector("[data-send]").parentElement.after(this.sending);
    this.begin("Sending", {}, (answer) => {
      const address = answer.getResponseHeader("Location");
      if (answer.status === 201 && address) return location.assign(address);
      this.showReport(answer.responseText);
      this.report.scrollIntoView({ block: "center" });
    });
  }

  begin(title, more, onAnswer) {
    this.request?.abort();
    const body = new FormData(this.form);
    for (const [name, value] of Object.entries(more)) body.set(name, value);
    const request = this.request = new XMLHttpRequest();
    request.open("POST", this.form.action);
    request.setRequestHeader("X-Requested-With", "XMLHttpRequest");
    request.upload.addEventListener("progress", (event) => this.showProgress(title, event));
    request.addEventListener("load", () => this.end(request, () => this.take(request, onAnswer)));
    request.addEventListener("error", () => this.end(request, () => this.refuse("The site did not answer. Your file and the form are kept: try again.")));
    request.addEventListener("abort", () => this.end(request, () => this.refuse("Stopped. Nothing was stored. Your file and the form are kept.")));
    this.showProgress(title, { loaded: 0, total: this.file.files[0].size });
    request.send(body);
  }

  take(request, onAnswer) {
    const isOurs = request.responseURL.split("?")[0] === new URL(this.form.action).href.split("?")[0];
    const isText = (request.getResponseHeader("Content-Type") || "").startsWith("text/plain");
    if (!isOurs) this.refuse("You are signed out. Sign in again in another tab, then send again from here: your file and the form are kept.");
    else if (isText) this.refuse(request.responseText.trim());
    else if (request.status >= 500 || request.status === 403) this.refuse(`The site answered ${request.status}. Your file and the form are kept: try again.`);
    else onAnswer(request);
  }

  end(request, then) {
    if (this.request !== request) return; // another one has begun
    this.request = null;
    this.isSending = false;
    this.sending.hidden = true;
    then();
  }

  showProgress(title, event) {
    const done = event.total ? Math.round(100 * event.loaded / event.total) : 0;
    this.sending.hidden = false;
    this.sending.querySelector("progress").value = done;
    const words = done < 100 ? `${mebibytes(event.loaded)} of ${mebibytes(event.total)}` : "sent; the site reads it";
    this.sending.querySelector("[data-sent]").textContent = `${title}: ${words}`;
  }

  showReport(html) {
    this.report.innerHTML = html;
    this.askCoverage();
  }

  askCoverage() {
    const isAsked = Boolean(this.report.querySelector("[data-incomplete]"));
    this.form.querySelector("[data-coverage]").classList.toggle("asked", isAsked);
  }
}

function paragraph(kind, words) {
  const made = document.createElement("p");
  made.className = kind;
  made.textContent = words;
  return made;
}

const form = document.querySelector("form[data-upload]");
if (form) new UploadForm(form);
