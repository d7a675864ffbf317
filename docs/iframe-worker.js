// Browsers start no worker from a file. Where a page is read as one, this does what the search needs of a worker, in a frame that nobody sees.
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<!doctype html><title></title>";
      this.ready = new Promise(resolve => (frame.onload = () => {
        frame.onload = null;
        const inner = frame.contentWindow;
        inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
        inner.importScripts = (...urls) => Promise.all(urls.map(each => this.load(inner, each)));
        this.load(inner, url).then(() => resolve(inner));
      }));
      document.body.appendChild(frame);
    }
    load(inner, url) {
      return new Promise((resolve, reject) => {
        const script = inner.document.createElement("script");
        Object.assign(script, { src: new URL(url, location.href), onload: resolve, onerror: reject });
        inner.document.head.appendChild(script);
      });
    }
    postMessage(data) {
      this.ready.then(inner => inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
