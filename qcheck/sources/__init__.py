"""Sources of text: files, standard input, git revisions, kustomize and helm. Independent of the content."""
