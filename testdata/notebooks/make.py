#!/usr/bin/python3
"""Writes the notebooks beside it, in the styles of the programs that make them.

Those of nbformat and nbconvert are made by these libraries (Debian packages
python3-nbformat, python3-nbconvert, python3-ipykernel). The others are laid out
by hand as their makers write them: key order, indent, escapes, metadata. The
tests read the files and never run this.
"""
import base64
import json
import os
import struct
import sys
import zlib

import nbformat
from nbformat import v4

HERE = os.path.dirname(os.path.abspath(__file__))


def png(width=4, height=4, shade=200):
    rows = b"".join(b"\0" + bytes([shade, 80, 40]) * width for _ in range(height))

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b"")


PNG = base64.b64encode(png()).decode()
# A picture of one grey pixel, as small as a JPEG gets.
JPEG = base64.b64encode(bytes.fromhex(
    "ffd8ffdb004300" + "01" * 64 + "ffc0000b080001000101011100"
    "ffc4001400010000000000000000000000000000000007ffc40014100100000000000000000000000000000000"
    "ffda0008010100003f0037ffd9")).decode()
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8">\n <circle cx="4" cy="4" r="3"/>\n</svg>\n'

PY3 = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
       "language_info": {"codemirror_mode": {"name": "ipython", "version": 3}, "file_extension": ".py",
                         "mimetype": "text/x-python", "name": "python", "nbconvert_exporter": "python",
                         "pygments_lexer": "ipython3", "version": "3.11.2"}}


def save(name, text, newline="\n", encoding="utf-8"):
    data = text.replace("\n", newline).encode(encoding)
    with open(os.path.join(HERE, name + ".ipynb"), "wb") as f:
        f.write(data)


def dump(name, nb, indent=1, final="\n", newline="\n", ascii=False, sort=False, separators=None, before=""):
    text = json.dumps(nb, indent=indent, ensure_ascii=ascii, sort_keys=sort, separators=separators)
    save(name, before + text + final, newline)


def lines(text):
    return text.splitlines(True)


def library(name, cells, metadata, minor, **kwargs):
    """Writes with nbformat itself."""
    for n, cell in enumerate(cells):
        cell["id"] = "%08x" % (0x1a2b3c4d + 7919 * n)
    nb = v4.new_notebook(cells=cells, metadata=metadata)
    nb["nbformat_minor"] = minor
    if minor < 5:
        for cell in cells:
            del cell["id"]
    save(name, nbformat.writes(nb, version=nbformat.NO_CONVERT, **kwargs) + "\n")


def run_outputs():
    return [
        v4.new_output("stream", name="stdout", text="first\nsecond\n"),
        v4.new_output("stream", name="stderr", text="\x1b[31mred\x1b[0m warning\n"),
        v4.new_output("execute_result", {"text/plain": "   a  b\n0  1  2", "text/html": "<table>\n<tr><td>1</td></tr>\n</table>"}, execution_count=3),
        v4.new_output("display_data", {"text/plain": "<Figure size 640x480 with 1 Axes>", "image/png": PNG + "\n"}, metadata={"needs_background": "light"}),
        v4.new_output("display_data", {"text/plain": "<IPython.core.display.SVG object>", "image/svg+xml": SVG}),
        v4.new_output("display_data", {"text/plain": "<IPython.core.display.Markdown object>", "text/markdown": "**bold**"}),
        v4.new_output("display_data", {"text/plain": "<IPython.core.display.Latex object>", "text/latex": "$x^2$"}),
        v4.new_output("display_data", {"text/plain": "<IPython.core.display.JSON object>", "application/json": {"k": [1, 2.5, None]}}),
        v4.new_output("error", ename="ZeroDivisionError", evalue="division by zero",
                      traceback=["\x1b[0;31m-----\x1b[0m", "\x1b[0;31mZeroDivisionError\x1b[0m  Traceback (most recent call last)", "\x1b[0;31mZeroDivisionError\x1b[0m: division by zero"]),
    ]


def by_nbformat():
    md, code, raw = v4.new_markdown_cell, v4.new_code_cell, v4.new_raw_cell
    py2 = {"kernelspec": {"display_name": "Python 2", "language": "python", "name": "python2"},
           "language_info": {"name": "python", "version": "2.7.9", "codemirror_mode": {"name": "ipython", "version": 2}}}
    library("nbformat_40_python2", [md("# Title\n\nText with *stars*."), code("print 'x'\nprint u'\u00e9'", execution_count=1, outputs=run_outputs()[:1], metadata={"collapsed": False}), raw("raw text", metadata={"format": "text/html"})], py2, 0)
    library("nbformat_41_attachments", [md("![a](attachment:a.png)", attachments={"a.png": {"image/png": PNG}}), code("1 + 1", execution_count=2, outputs=run_outputs()[2:3]), raw("", attachments={"b.png": {"image/png": PNG}})], PY3, 1)
    library("nbformat_42_raw", [raw(".. note::\n   reST", metadata={"format": "text/restructuredtext"}), raw("\\LaTeX", metadata={"raw_mimetype": "text/latex"}), code("")], {**PY3, "title": "Raw cells", "authors": [{"name": "A. Author"}]}, 2)
    library("nbformat_43_hidden", [code("secret = 1", metadata={"jupyter": {"source_hidden": True, "outputs_hidden": False}, "scrolled": True}), md("seen", metadata={"jupyter": {"source_hidden": False}, "collapsed": "by a tool", "scrolled": 3})], PY3, 3)
    library("nbformat_44_execution", [code("import time\ntime.sleep(1)\n", execution_count=7, metadata={"execution": {"iopub.execute_input": "2020-09-01T10:00:00.000000Z", "shell.execute_reply": "2020-09-01T10:00:01.000000Z"}, "tags": ["slow", "skip"]}), md("between\n"), code("time.time()", execution_count=8, outputs=run_outputs()[:3])], PY3, 4)
    library("nbformat_45_outputs", [md("# All outputs"), code("everything()", execution_count=3, outputs=run_outputs()), code("", execution_count=None), raw("end", metadata={"format": "text/plain"})], PY3, 5)
    library("nbformat_45_unsplit", [md("# Sources as strings\n\nnot split"), code("def f():\n    return 1\n\nf()", execution_count=1, outputs=run_outputs()[:2])], PY3, 5, split_lines=False)
    library("nbformat_45_ascii", [md("Escaped: \u00e9 \u4e2d\u6587 \U0001f600"), code("s = '\u00fc'\nprint(s)", execution_count=1, outputs=[v4.new_output("stream", name="stdout", text="\u00fc\n")])], PY3, 5, ensure_ascii=True)
    library("nbformat_45_unicode", [md("Raw: \u00e9 \u4e2d\u6587 \U0001f600\nline\u2028separator and \x85"), code("s = 'e\u0301 \u202e'\n", execution_count=1)], PY3, 5)
    library("nbformat_45_long", [c for n in range(6) for c in (md("## Part %d\n\nText." % n), code("x = %d\nx" % n, execution_count=n + 1, outputs=[v4.new_output("execute_result", {"text/plain": str(n)}, execution_count=n + 1)]))], PY3, 5)


def by_nbconvert():
    from nbconvert.preprocessors import ExecutePreprocessor
    sources = [
        "print('hello')\nimport sys\nprint('oops', file=sys.stderr)",
        "from IPython.display import display, Image, SVG, HTML, Markdown, Latex, JSON\nimport base64",
        "display(Image(data=base64.b64decode('%s')))" % PNG,
        "display(SVG(data='''%s'''))" % SVG,
        "display(Markdown('**md**'), Latex('$y$'), JSON({'a': 1}), HTML('<b>html</b>'))",
        "{'a': [1, 2, 3]}",
        "for i in range(3):\n    print(i, end='\\r')\n",
        "1/0",
    ]
    cells = [v4.new_markdown_cell("# Executed by nbconvert")] + [v4.new_code_cell(s) for s in sources]
    for n, cell in enumerate(cells):
        cell["id"] = "cell%04d" % n
    nb = v4.new_notebook(cells=cells, metadata={"kernelspec": PY3["kernelspec"]})
    ExecutePreprocessor(timeout=60, allow_errors=True, kernel_name="python3").preprocess(nb, {})
    save("nbconvert_executed", nbformat.writes(nb) + "\n")


def code(source, count=None, outputs=(), metadata=None, **extra):
    return {"cell_type": "code", "execution_count": count, **extra, "metadata": metadata or {}, "outputs": list(outputs), "source": source}


def text(kind, source, metadata=None, **extra):
    return {"cell_type": kind, **extra, "metadata": metadata or {}, "source": source}


def result(data, count=1, metadata=None):
    return {"data": data, "execution_count": count, "metadata": metadata or {}, "output_type": "execute_result"}


def display(data, metadata=None):
    return {"data": data, "metadata": metadata or {}, "output_type": "display_data"}


def stream(text, name="stdout"):
    return {"name": name, "output_type": "stream", "text": text}


def book(cells, metadata, minor, major=4):
    return {"cells": cells, "metadata": metadata, "nbformat": major, "nbformat_minor": minor}


def by_hand():
    dump("jupyterlab_4", book([
        text("markdown", lines("# Analysis\n\nWith a [link](https://example.org)."), id="2f0d3a6e-5b1c-4c0e-9a57-0d6f1c3b9e01", metadata={"editable": True, "slideshow": {"slide_type": ""}, "tags": []}),
        code(lines("import math\n\nmath.pi"), 1, [result({"text/plain": ["3.141592653589793"]})], {"editable": True, "tags": ["parameters"], "jupyter": {"outputs_hidden": False}}, id="8c1d9e02-33aa-4f7f-8b52-7f3a1c0d2b10"),
        code(lines("plot()"), 2, [display({"image/png": PNG, "text/plain": ["<Figure size 640x480 with 1 Axes>"]}, {"image/png": {"width": 4}})], id="d4c7b3a1-0b1e-4f59-8f3c-4a1c6de5f220"),
        code([], None, [], id="e93f7d55-8c2b-4b8e-a6de-21d06b8e9f31"),
    ], PY3, 5))
    dump("vscode", book([
        text("markdown", lines("## VS Code\n"), id="4f1b2c3d"),
        code(lines("def f(x):\n    return x + 1\n\nf(2)"), 3, [result({"text/plain": ["3"]}, 3)], id="9a8b7c6d"),
        code(lines("SELECT 1"), None, [], {"vscode": {"languageId": "sql"}}, id="0c1d2e3f"),
    ], {**PY3, "orig_nbformat": 4, "vscode": {"interpreter": {"hash": "31f2aee4e71d21fbe5cf8b01ff0e069b9275f58929596ceb00d14d90e3e16cd6"}}}, 5), final="")
    dump("vscode_44_no_ids", book([
        text("markdown", lines("old VS Code")),
        code(lines("print(1)"), 1, [stream(["1\n"])], {"collapsed": False}),
    ], {"interpreter": {"hash": "abc"}, **PY3, "orig_nbformat": 4}, 2), indent=4, final="")
    dump("polyglot_csharp", book([
        code(lines("Console.WriteLine(\"hi\");\r\n"), 1, [stream(["hi\r\n"])], {"dotnet_interactive": {"language": "csharp"}, "polyglot_notebook": {"kernelName": "csharp"}}),
        text("markdown", lines("A *polyglot* notebook.\r\nWith CRLF inside.\r\n")),
    ], {"kernelspec": {"display_name": ".NET (C#)", "language": "C#", "name": ".net-csharp"}, "language_info": {"name": "polyglot-notebook"}, "polyglot_notebook": {"kernelInfo": {"defaultKernelName": "csharp", "items": [{"aliases": [], "name": "csharp"}]}}}, 2), indent=2, newline="\r\n")
    colab = {"nbformat": 4, "nbformat_minor": 0,
             "metadata": {"colab": {"provenance": [], "gpuType": "T4", "collapsed_sections": ["abc"]}, "kernelspec": {"name": "python3", "display_name": "Python 3"}, "language_info": {"name": "python"}, "accelerator": "GPU"},
             "cells": [
                 {"cell_type": "markdown", "source": lines("# Colab\n\n[![Open](badge.svg)](https://colab.research.google.com/)"), "metadata": {"id": "view-in-github", "colab_type": "text"}},
                 {"cell_type": "code", "source": lines("!pip install x\n\n#@title Form { run: \"auto\" }\nx = 5 #@param {type:\"integer\"}"), "metadata": {"colab": {"base_uri": "https://localhost:8080/", "height": 35}, "id": "Kz1xP0aBcDeF", "outputId": "0f9b8c7d-1111"}, "execution_count": 4,
                  "outputs": [{"output_type": "stream", "name": "stdout", "text": ["Collecting x\n", "Done\n"]},
                              {"output_type": "execute_result", "data": {"text/plain": ["'ok'"], "application/vnd.google.colaboratory.intrinsic+json": {"type": "string"}}, "metadata": {}, "execution_count": 4}]},
                 {"cell_type": "code", "source": [], "metadata": {"id": "empty"}, "execution_count": None, "outputs": []}]}
    dump("colab", colab, indent=2, final="")
    kaggle = {"metadata": {**PY3, "kaggle": {"accelerator": "none", "dataSources": [{"sourceId": 3136, "databundleVersionId": 26502, "sourceType": "competition"}], "isInternetEnabled": True}}, "nbformat_minor": 4, "nbformat": 4,
              "cells": [
                  {"cell_type": "code", "source": "# This Python 3 environment comes with many helpful analytics libraries installed\nimport numpy as np # linear algebra\nimport os\nfor dirname, _, filenames in os.walk('/kaggle/input'):\n    print(dirname)", "metadata": {"_uuid": "8f2839f25d086af736a60e9eeb907d3b93b6e0e5", "_cell_guid": "b1076dfc-b9ad-4769-8c92-a6c4dae69d19", "trusted": True, "execution": {"iopub.status.busy": "2024-01-01T00:00:00.0Z"}}, "execution_count": None, "outputs": []},
                  {"cell_type": "markdown", "source": "# Titanic", "metadata": {"_uuid": "x"}},
                  {"cell_type": "code", "source": "print(1)", "metadata": {"trusted": True}, "outputs": [{"name": "stdout", "text": "1\n", "output_type": "stream"}], "execution_count": 2}]}
    dump("kaggle", kaggle, indent=None, separators=(",", ":"), final="")
    dump("databricks", book([
        code(lines("%sql\nselect * from t"), 0, [display({"application/vnd.databricks.v1+bamboolib_hint": "{\"pd.DataFrames\": [], \"version\": \"0.0.1\"}", "text/plain": []}), stream([])], {"application/vnd.databricks.v1+cell": {"cellMetadata": {"byteLimit": 2048000, "rowLimit": 10000}, "inputWidgets": {}, "nuid": "f1c8a4bc-3e2f-4b29-8b6f-7a2f0f8bde10", "showTitle": True, "title": "Query"}}),
        text("markdown", ["%md\n", "# Databricks"], {"application/vnd.databricks.v1+cell": {"nuid": "a"}}),
    ], {"application/vnd.databricks.v1+notebook": {"dashboards": [], "language": "python", "notebookMetadata": {"pythonIndentUnit": 4}, "notebookName": "n", "widgets": {}}, "language_info": {"name": "python"}}, 0), indent=1, separators=(",", ": "), sort=True)
    dump("rise_slides", book([
        text("markdown", lines("# Slide one"), {"slideshow": {"slide_type": "slide"}}),
        text("markdown", lines("* point\n* other point"), {"slideshow": {"slide_type": "fragment"}}),
        code(lines("1"), 1, [result({"text/plain": ["1"]})], {"slideshow": {"slide_type": "subslide"}}),
        text("raw", lines("speaker"), {"slideshow": {"slide_type": "notes"}}),
    ], {"celltoolbar": "Slideshow", **PY3, "rise": {"scroll": True, "theme": "sky"}, "toc": {"base_numbering": 1, "nav_menu": {}}, "varInspector": {"cols": {"lenName": 16, "lenVar": 40}}}, 2), sort=True)
    dump("r_irkernel", book([
        code(lines("library(dplyr)\nhead(mtcars, 1)"), 1, [stream(lines("\nAttaching package: \u2018dplyr\u2019\n\n"), "stderr"), result({"text/html": ["<table>\n", "<tr><td>21</td></tr>\n", "</table>\n"], "text/latex": ["\\begin{tabular}{r}\n", " 21\\\\\n", "\\end{tabular}\n"], "text/markdown": ["\n", "| mpg |\n", "|---|\n", "| 21 |\n", "\n"], "text/plain": ["          mpg\n", "Mazda RX4 21 "]}, 1)]),
        code(lines("plot(1)"), 2, [display({"text/plain": ["plot without title"], "image/png": PNG, "image/svg+xml": lines(SVG)}, {"image/png": {"height": 420, "width": 420}})]),
    ], {"kernelspec": {"display_name": "R", "language": "R", "name": "ir"}, "language_info": {"codemirror_mode": "r", "file_extension": ".r", "mimetype": "text/x-r-source", "name": "R", "pygments_lexer": "r", "version": "4.2.2"}}, 4), sort=True)
    dump("julia_tabs", book([
        text("markdown", lines("# Julia with tabs")),
        code(lines("f(x) = x^2\nf.(1:3)"), 1, [result({"text/plain": lines("3-element Vector{Int64}:\n 1\n 4\n 9")})]),
        code(lines("error(\"\\e\")"), 2, [{"ename": "LoadError", "evalue": "boom", "output_type": "error", "traceback": ["boom", "", "Stacktrace:", " [1] \u001b[0m\u001b[1merror\u001b[22m"]}]),
    ], {"kernelspec": {"display_name": "Julia 1.9.3", "language": "julia", "name": "julia-1.9"}, "language_info": {"file_extension": ".jl", "mimetype": "application/julia", "name": "julia", "version": "1.9.3"}}, 4), indent="\t")
    dump("widgets", book([
        code(lines("import ipywidgets as w\nw.IntSlider()"), 1, [result({"application/vnd.jupyter.widget-view+json": {"model_id": "7f0e", "version_major": 2, "version_minor": 0}, "text/plain": ["IntSlider(value=0)"]})], id="w1"),
        code(lines("w.Output()"), 2, [display({"application/vnd.jupyter.widget-view+json": {"model_id": "7f0f", "version_major": 2, "version_minor": 0}})], id="w2"),
        code(lines("chart"), 3, [result({"application/vnd.plotly.v1+json": {"config": {"plotlyServerURL": "https://plot.ly"}, "data": [{"type": "bar", "y": [1, 3, 2]}], "layout": {}}, "text/html": ["<div>chart</div>"]}, 3), display({"application/javascript": ["alert(1)"]}), display({"image/jpeg": JPEG, "text/plain": ["<IPython.core.display.Image object>"]})], id="w3"),
    ], {**PY3, "widgets": {"application/vnd.jupyter.widget-state+json": {"state": {"7f0e": {"model_module": "@jupyter-widgets/controls", "model_module_version": "2.0.0", "model_name": "IntSliderModel", "state": {"layout": "IPY_MODEL_1"}}}, "version_major": 2, "version_minor": 0}}}, 5))
    dump("attachments", book([
        text("markdown", lines("![shot](attachment:shot.png)\n\n![two](attachment:two.png)"), attachments={"shot.png": {"image/png": PNG}, "two.png": {"image/png": PNG}}, id="att-1"),
        {"attachments": {"only.png": {"image/png": PNG}}, "cell_type": "markdown", "id": "att-2", "metadata": {}, "source": ["![](attachment:only.png)"]},
        {"source": ["last"], "metadata": {}, "id": "att-3", "cell_type": "raw", "attachments": {}},
    ], PY3, 5))
    simple = [text("markdown", lines("one\ntwo"), id="m-1"), code(lines("a = 1\nb = 2\n"), 1, [stream(["x\n"])], id="c-1"), text("raw", [], id="r-1"), code(lines("last"), None, [], id="c-2")]
    dump("indent_4", book(simple, PY3, 5), indent=4)
    dump("indent_0", book(simple, PY3, 5), indent=0)
    dump("minified", book(simple, PY3, 5), indent=None, separators=(",", ":"), final="")
    dump("one_line", book(simple, PY3, 5), indent=None)
    dump("crlf", book(simple, PY3, 5), newline="\r\n")
    dump("crlf_tabs_strings", book([text("markdown", "one\r\ntwo", id="m"), code("x\r\ny\r\n", 2, [stream("1\r\n")], id="c")], PY3, 5), newline="\r\n", indent="\t", final="")
    dump("no_final_newline", book(simple, PY3, 5), final="")
    dump("trailing_lines", book(simple, PY3, 5), final="\n\n \n", before="\n")
    dump("strings", book([text("markdown", "# One\n\nstring", id="s1"), code("x = 1\nx", 5, [result({"text/plain": "1"}, 5), {"ename": "E", "evalue": "v", "output_type": "error", "traceback": []}], id="s2"), text("raw", "", id="s3")], PY3, 5))
    dump("mixed_sources", book([text("markdown", "# string", id="s1"), code(lines("x\ny\n"), None, [], id="s2"), code("z", None, [], id="s3"), text("raw", ["in one\nelement\n", "of the list"], id="s4"), text("raw", ["", "odd", " parts\n", ""], id="s5")], PY3, 5))
    dump("sorted_ascii_upper", book([text("markdown", ["x"], id="u1"), code(["y"], 1, [], id="u2")], {**PY3, "note": "@"}, 5), sort=True, indent=2)
    path = os.path.join(HERE, "sorted_ascii_upper.ipynb")
    with open(path) as f:
        content = f.read()
    with open(path, "w", newline="") as f:
        f.write(content.replace('"@"', '"\\u00C9t\\u00E9 \\/ \\uD83D\\uDE00"'))
    numbers = json.dumps(book([code(["n"], 1, [result({"application/json": {"big": "@1", "one": "@2", "exp": "@3", "neg": "@4", "huge": "@5"}})], {"ratio": "@2"}, id="n1"), text("markdown", ["m"], {"z": "@3"}, id="n2")], {**PY3, "version": "@1"}, 5), indent=1)
    for key, value in {"@1": "123456789012345678901234567890", "@2": "1.0", "@3": "1e5", "@4": "-0", "@5": "1E+400"}.items():
        numbers = numbers.replace('"%s"' % key, value)
    save("numbers", numbers + "\n")
    dump("duplicate_ids", book([text("markdown", ["a"], id="same"), code(["b"], 1, [], id="same"), text("raw", ["c"], id="cell-0"), text("raw", ["d"], id="other")], PY3, 5))
    dump("empty_cells", book([], PY3, 5))
    dump("empty_cells_minified", book([], {}, 4), indent=None, separators=(",", ":"), final="")
    save("empty_cells_blank", '{\n  "cells": [ ],\n  "metadata": { },\n  "nbformat": 4,\n  "nbformat_minor": 5\n}\n')
    save("empty_cells_open", '{\n "cells": [\n ],\n "metadata": {},\n "nbformat": 4,\n "nbformat_minor": 4\n}')
    save("by_hand_odd_spacing", '{"nbformat":4 ,"nbformat_minor" : 5,\n"metadata": {},\n   "cells": [  { "id":"a" , "cell_type" : "code",\n "source":[ "x = 1\\n" ,"x"], "outputs" :[ ], "metadata":{}, "execution_count":null }\n  ,{"cell_type":"markdown","id":"b","metadata":{},"source":"text"} ] }')
    save("comma_first", '{ "cells":\n  [ { "cell_type": "raw"\n    , "id": "x"\n    , "metadata": {}\n    , "source":\n      [ "1\\n"\n      , "2"\n      ]\n    }\n  , { "cell_type": "markdown"\n    , "id": "y"\n    , "metadata": {}\n    , "source": []\n    }\n  ]\n, "metadata": {}\n, "nbformat": 4\n, "nbformat_minor": 5\n}\n')
    dump("papermill", book([
        code(lines("alpha = 0.1"), 1, [], {"papermill": {"duration": 0.012, "end_time": "2023-01-01T00:00:00", "exception": False, "status": "completed"}, "tags": ["parameters"]}, id="p1"),
        code(lines("# Parameters\nalpha = 0.6\n"), 2, [], {"papermill": {"duration": 0.01, "exception": None}, "tags": ["injected-parameters"]}, id="p2"),
    ], {"celltoolbar": "Tags", **PY3, "papermill": {"default_parameters": {}, "environment_variables": {}, "exception": None, "input_path": "in.ipynb", "parameters": {"alpha": 0.6}, "version": "2.4.0"}}, 5))
    dump("jupytext", book([text("raw", ["---\n", "title: Paired\n", "---"]), text("markdown", ["# Paired"]), code(["1 + 1"])], {"jupytext": {"cell_metadata_filter": "-all", "formats": "ipynb,py:percent", "text_representation": {"extension": ".py", "format_name": "percent", "format_version": "1.3", "jupytext_version": "1.14.5"}}, "kernelspec": PY3["kernelspec"]}, 4))
    dump("deepnote", book([text("markdown", "# Deepnote", {"cell_id": "00000-abc", "deepnote_cell_type": "markdown"}), code("df", None, [], {"cell_id": "00001-def", "deepnote_cell_type": "code", "source_hash": "b623e53d", "execution_millis": 12})], {"deepnote": {}, "deepnote_notebook_id": "x", "deepnote_execution_queue": []}, 0), indent=2, final="")
    dump("sage", book([code(lines("factor(12)"), 1, [result({"text/html": ["\\(2^{2} \\cdot 3\\)"], "text/latex": ["$2^{2} \\cdot 3$"], "text/plain": ["2^2 * 3"]})])], {"kernelspec": {"display_name": "SageMath 9.5", "language": "sage", "name": "sagemath"}, "language_info": {"name": "sage", "version": "9.5"}}, 4), sort=True)
    dump("future_47", book([text("markdown", ["m"], id="f1", expressions=[{"x": 1}], future={"field": [1, {"a": "b"}]}), code(["c"], 1, [{"output_type": "hologram", "data": 1}], id="f2"), {"cell_type": "sql", "id": "f3", "metadata": {}, "source": ["select 1"]}], {**PY3, "new": True}, 7))
    dump("byte_order_mark", book(simple, PY3, 5), before="\ufeff")
    dump("invalid_44_with_ids", book([text("markdown", ["ids before 4.5"], id="early"), code(["x"], None, [], id="late")], PY3, 4))
    dump("invalid_missing_fields", book([{"cell_type": "code", "source": ["no outputs\n", "no count"]}, {"cell_type": "markdown"}, {"cell_type": "raw", "id": 7, "source": []}], {}, 5))
    old = {"metadata": {"name": "Old", "signature": "sha256:0"}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [{"cells": [
        {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["Old notebook"]},
        {"cell_type": "code", "collapsed": False, "input": ["print 1\n", "1/0"], "language": "python", "metadata": {}, "outputs": [
            {"output_type": "stream", "stream": "stdout", "text": ["1\n"]},
            {"output_type": "pyout", "prompt_number": 2, "metadata": {}, "text": ["2"], "html": ["<b>2</b>"]},
            {"output_type": "display_data", "metadata": {}, "png": PNG + "\n", "text": ["<matplotlib.figure.Figure at 0x1>"]},
            {"output_type": "pyerr", "ename": "ZeroDivisionError", "evalue": "by zero", "traceback": ["\u001b[1;31mboom\u001b[0m"]}], "prompt_number": 2},
        {"cell_type": "markdown", "metadata": {}, "source": "as a string"}], "metadata": {}}]}
    dump("nbformat_3", old, sort=True)


if __name__ == "__main__":
    by_nbformat()
    if "--quick" not in sys.argv:
        by_nbconvert()
    by_hand()
