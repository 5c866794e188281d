/* Search from the disk: a browser starts no worker for a page that was opened as a file, so a hidden frame stands in for it. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      this.ready = new Promise((loaded) => {
        frame.onload = () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", {data}));
          inside.importScripts = (...urls) => Promise.all(urls.map((each) => load(inside, each)));
          load(inside, url).then(() => loaded(inside));
        };
      });
      document.documentElement.append(frame);
    }

    postMessage(data) { this.ready.then((inside) => inside.dispatchEvent(new MessageEvent("message", {data}))); }

    terminate() { this.ready.then((inside) => inside.frameElement.remove()); }
  };

  const load = (inside, url) => new Promise((loaded, failed) => {
    const script = inside.document.createElement("script");
    Object.assign(script, {src: url, onload: loaded, onerror: failed});
    inside.document.body.append(script);
  });
}
