# Codefathom with its server, page and command line. `make dist` makes the wheel that is copied here.
#
#   make dist && docker build -t codefathom .
#   docker run --rm -v "$PWD:/code:ro" -v fathom:/data codefathom search "how are ignore rules applied"
#
# The server listens beyond the container, so it needs a token: docs/guide.md.
FROM debian:trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv
COPY dist/*.whl /tmp/
RUN python3 -m venv /opt/fathom \
    && /opt/fathom/bin/pip install --no-cache-dir "$(ls /tmp/codefathom-*.whl)[server,watch,documents,team]" \
    && rm -rf /opt/fathom/lib/python3*/site-packages/pip /opt/fathom/lib/python3*/site-packages/pip-*

FROM debian:trixie-slim
# git: revisions, and repositories that the server clones.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git openssh-client python3 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 1000 --create-home --shell /usr/sbin/nologin fathom \
    && mkdir -p /data /code \
    && chown fathom:fathom /data /code
COPY --from=build /opt/fathom /opt/fathom
# Everything that is written lies below /data, so that /code can be read-only.
ENV PATH=/opt/fathom/bin:/usr/bin:/bin \
    PYTHONUNBUFFERED=1 \
    XDG_STATE_HOME=/data/state \
    FATHOM_CACHE_DIR=/data/cache \
    FATHOM_INDEX_DIR=/data/indexes \
    FATHOM_SERVER__DATA_DIR=/data/server \
    FATHOM_SERVER__ALLOWED_ROOTS=/code,/data \
    FATHOM_SERVER__HOST=0.0.0.0
USER fathom
WORKDIR /code
VOLUME /data
EXPOSE 8900
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
    CMD ["/opt/fathom/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8900/health', timeout=4)"]
ENTRYPOINT ["fathom"]
CMD ["serve"]
