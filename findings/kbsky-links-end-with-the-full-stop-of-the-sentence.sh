#!/usr/bin/env bash
# kbsky takes the comma, full stop or bracket behind an address into the link and the one behind a tag into the tag: "see https://example.com/a." leads to
# "/a.", and "#rain, then sun" is filed under "rain,". A tag with the full-width sign of Japanese keyboards keeps its sign.
#
# What it is: kbsky is a Kotlin library for Bluesky (JVM, JavaScript, iOS); FacetUtil finds mentions, links and tags in a text.
# Versions: work.socialhub.kbsky:core-jvm 0.3.0 (Maven Central), @atproto/api 0.21.0 (npm, RichText) as the second opinion.
# What the docs say: comment of extractFacets: made in conformity with the official web app. Lexicon app.bsky.richtext.facet#tag: "The text is
#   usually a hashtag, including a '#' prefix, but the facet reference should not (except in the case of 'double hash tags')".
# Guess: the address https://example.com/a for each of four sentences; the tags rain, rain and 雨.
# Seen: https://example.com/a, and /a. and /a! and /a) with the sign; the tags "rain,", "rain." and "＃雨". Text up to the next blank is taken.
# Wrong for a user: every address at the end of a sentence or in brackets leads to a page that does not exist, and posts are not found under their tags;
#   the marked text looks nearly right, so that the author does not see it.
# Instead: put a blank in front of the sign, or strip it from the records of FacetList before richTextFacets().
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/api@0.21.0 2>/dev/null
cat > pom.xml <<'XML'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion><groupId>probe</groupId><artifactId>probe</artifactId><version>1</version>
<dependencies><dependency><groupId>work.socialhub.kbsky</groupId><artifactId>core-jvm</artifactId><version>0.3.0</version></dependency></dependencies></project>
XML
mvn -q dependency:copy-dependencies -DoutputDirectory=lib > mvn.txt 2>&1 || { cat mvn.txt; exit 1; }
cat > Probe.java <<'JAVA'
import work.socialhub.kbsky.util.facet.*;
import java.nio.file.*;
import java.util.*;
public class Probe {
    public static void main(String[] args) throws Exception {
        for (String line : Files.readAllLines(Path.of("lines.txt"))) {
            List<String> found = new ArrayList<>();
            for (var facet : FacetUtil.INSTANCE.extractFacets(line).richTextFacets(Map.of())) {
                Object feature = facet.getFeatures().get(0);
                for (var method : feature.getClass().getMethods()) if (method.getName().matches("getTag|getUri")) found.add((String) method.invoke(feature));
            }
            System.out.println(String.join(" ", found));
        }
    }
}
JAVA
cat > run.mjs <<'JS'
import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { RichText } from '@atproto/api';
console.log(readdirSync('lib').find((name) => name.startsWith('core-jvm')));
const lines = ['see https://example.com/a, then go', 'see https://example.com/a.', 'see https://example.com/a!', '(see https://example.com/a)', '#rain, then sun', 'much #rain.', '今日は ＃雨 です', 'see https://example.com/a then go'];
writeFileSync('lines.txt', lines.join('\n')); execFileSync('javac', ['-encoding', 'UTF-8', '-cp', 'lib/*', 'Probe.java']);
const found = execFileSync('java', ['-Dfile.encoding=UTF-8', '-Dstdout.encoding=UTF-8', '-cp', 'lib/*:.', 'Probe']).toString().trim().split('\n');
const second = lines.map((text) => { const rich = new RichText({ text }); rich.detectFacetsWithoutResolution(); return rich.facets.map((f) => f.features[0].tag ?? f.features[0].uri).join(' '); });
lines.forEach((line, i) => console.log(JSON.stringify(line), '->', found[i], '| second opinion', second[i]));
const a = 'https://example.com/a', same = found.join('|') === [a + ',', a + '.', a + '!', a + ')', 'rain,', 'rain.', '＃雨', a].join('|') && second.join('|') === [a, a, a, a, 'rain', 'rain', '雨', a].join('|');
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
