// A browser starts no worker from a page that is opened as a file. The search of the site then runs in a hidden frame,
// which has the few functions of a worker that the search calls. The name IFrameWorker tells the search where it runs.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inner = this.frame.contentWindow;
      window.addEventListener("message", ({ source, data }) => {
        if (source !== this.frame.contentWindow) return;
        const answer = new MessageEvent("message", { data });
        this.dispatchEvent(answer);
        this.onmessage?.(answer);
      });
      inner.document.open();
      inner.document.write(`<body><script>
        postMessage = (data) => parent.postMessage(data, "*");
        importScripts = async (...urls) => {
          for (const src of urls) {
            await new Promise((resolve) => {
              document.body.append(Object.assign(document.createElement("script"), { src, onload: resolve }));
            });
          }
        };
      <\/script><script src="${url}"><\/script></body>`);
      inner.document.close();
      // document.open() takes listeners away, so this one comes after it.
      this.loaded = new Promise((resolve) => inner.addEventListener("load", resolve, { once: true }));
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
