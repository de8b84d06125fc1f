#!/bin/bash
# Two workers count side by side; this agent goes on with their results.
echo '<fork kind="md">COUNT</fork>'
echo '<fork kind="ts">COUNT</fork>'
echo '<join>SUM</join>'
