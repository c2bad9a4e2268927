# qcheck as a container: docker run --rm -v "$PWD:/repo" qcheck check
FROM python:3.13-slim AS build
COPY . /src
RUN pip install --no-cache-dir --target /install --require-hashes --requirement /src/requirements.txt \
    && pip install --no-cache-dir --target /install --no-deps /src

FROM python:3.13-slim
RUN apt-get update -qq && apt-get install -qq --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY --from=build /install /opt/qcheck
ENV PYTHONPATH=/opt/qcheck PYTHONDONTWRITEBYTECODE=1
RUN useradd --create-home qcheck && git config --system --add safe.directory /repo
USER qcheck
WORKDIR /repo
ENTRYPOINT ["python", "-P", "-m", "qcheck"]
CMD ["check"]
