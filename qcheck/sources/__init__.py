"""Where text comes from: files, standard input, git revisions, kustomize and helm. Knows nothing of what it carries."""
