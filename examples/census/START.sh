#!/bin/bash
# Two workers count side by side; this agent continues with their results.
echo '<fork kind="md">COUNT</fork>'
echo '<fork kind="ts">COUNT</fork>'
echo '<join>SUM</join>'
