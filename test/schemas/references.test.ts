import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { FIRST_WORKFLOW } from '../../src/cli/commands/init.ts';
import { configTemplate } from '../../src/config/template.ts';
import { splitPrompt } from '../../src/workflow/prompt-file.ts';
import { newCliProject } from '../cli/cli-project.ts';
import { PROJECT, publishedText, validate } from './published.ts';

describe('the workflow of `raymond init`', () => {
  test.each([
    ['START.md', 'frontmatter'],
    ['FIX.md', 'frontmatter'],
    ['REPORT.md', 'frontmatter'],
    ['answers.yaml', 'scenario'],
    ['tour.test.yaml', 'scenario'],
  ])('%s refers to the %s schema beside it', async (file, name) => {
    const { cwd, raymond } = newCliProject();
    await raymond('init', 'first');
    const [line = ''] = (readFileSync(join(cwd, 'first', file), 'utf8').match(/^#.*/m) ?? []) as string[];
    const [, path = ''] = /^# yaml-language-server: \$schema=\.\/(.*)$/.exec(line) ?? [];
    expect(path).toBe(`${name}.schema.json`);
    expect(readFileSync(join(cwd, 'first', path), 'utf8')).toBe(publishedText(name));
  });
});

describe('the config file of `raymond --init-config`', () => {
  test('refers to its schema beside it', async () => {
    const { cwd, raymond } = newCliProject();
    await raymond('--init-config');
    const [line = ''] = readFileSync(join(cwd, '.raymond', 'config.toml'), 'utf8').split('\n');
    const [, path = ''] = /^#:schema \.\/(.*)$/.exec(line) ?? [];
    expect(readFileSync(join(cwd, '.raymond', path), 'utf8')).toBe(publishedText('config'));
  });

  test('is valid, unchanged and with every option set', () => {
    for (const text of [configTemplate(), configTemplate().replace(/^#(?=\w)/gm, '')]) {
      validate.config(parseToml(text));
      expect(validate.config.errors).toBeNull();
    }
  });
});

describe('the schemas report no problem', () => {
  const examples = readdirSync(join(PROJECT, 'examples'), { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.endsWith('README.md'))
    .map((name): [string, string] => [name, join(PROJECT, 'examples', name)])
    .filter(([name]) => /\.(md|yaml)$/.test(name))
    .map(([name, path]): [string, string] => [name, readFileSync(path, 'utf8')]);
  const texts = [...examples, ...Object.entries(FIRST_WORKFLOW)];

  test.each(texts.filter(([name]) => name.endsWith('.md')))('in %s', (_, text) => {
    const parts = splitPrompt(text);
    validate.frontmatter(parts.kind === 'fenced' ? parseYaml(parts.yaml) : null);
    expect(validate.frontmatter.errors).toBeNull();
  });

  const yamlFiles = texts.filter(([name]) => name.endsWith('.yaml'));
  const isWorkflow = ([name, text]: readonly [string, string]): boolean =>
    name.endsWith('workflow.yaml') || /^states:/m.test(text);
  test.each(yamlFiles.filter(isWorkflow))('in the workflow %s', (_, text) => {
    validate.workflow(parseYaml(text));
    expect(validate.workflow.errors).toBeNull();
  });

  test.each(yamlFiles.filter((file) => !isWorkflow(file)))('in the scenario %s', (_, text) => {
    validate.scenario(parseYaml(text));
    expect(validate.scenario.errors).toBeNull();
  });
});
