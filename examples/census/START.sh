#!/bin/bash
# Two workers count side by side while this agent goes on.
echo '<fork next="WAIT" kind="md">COUNT</fork>'
echo '<fork next="WAIT" kind="ts">COUNT</fork>'
