"""Sources of text: files, standard input, git revisions, kustomize and helm. Content is not interpreted here."""
