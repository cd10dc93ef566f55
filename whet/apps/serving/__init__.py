"""Servers of models, started as they are: vLLM, SGLang, llama.cpp. Whet serves no weights itself."""
