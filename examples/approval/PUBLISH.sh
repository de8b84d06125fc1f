#!/bin/bash
cp announcement.md published.md || exit 1
echo "<result>published</result>"
