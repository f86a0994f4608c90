"""Headless Chromium, driven through chromedriver by the WebDriver protocol."""

import base64
import json
import re
import subprocess
import urllib.request


class Browser:
    """With `with`: a browser that keeps its files in the folder."""

    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
        port = next(filter(None, (re.search(r"successfully on port (\d+)", line) for line in self.driver.stdout)))[1]
        self.url = f"http://127.0.0.1:{port}/session"
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={self.folder}/profile"]
        browser = {"browserName": "chrome", "goog:chromeOptions": {"args": flags}}
        self.url += "/" + self._ask("POST", "", {"capabilities": {"alwaysMatch": browser}})["sessionId"]
        return self

    def __exit__(self, *_):
        self._ask("DELETE", "")
        self.driver.terminate()
        self.driver.wait()

    def _ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(self.url + path, data, method=method), timeout=60) as reply:
            return json.load(reply)["value"]

    def devtools(self, command, parameters):
        return self._ask("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, width, height):
        """Give the window this size in CSS pixels. Each is two pixels of a picture."""
        size = {"width": width, "height": height, "deviceScaleFactor": 2, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", size)

    def open(self, url):
        self._ask("POST", "/url", {"url": url})

    def run(self, script):
        return self._ask("POST", "/execute/sync", {"script": script, "args": []})

    def picture(self, path):
        """Write a PNG of the window."""
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.devtools("Page.captureScreenshot", {"format": "png"})["data"]))
