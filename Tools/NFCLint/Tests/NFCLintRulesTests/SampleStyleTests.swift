// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine
import NFCLintRules
import Testing

/// The findings for an app with Apple's code, whose failures end with a check mark, and technical words in its texts.
@Suite struct SampleStyleTests {
    private func findings(_ files: [String: String]) -> [String: [String]] {
        let project = Project(MemoryFiles(files.mapValues { Array($0.utf8) }))
        let found = Linter(Rules.all).check(project).map { finding in
            (finding.place.path, "\(finding.place.position.line) \(finding.id) \(finding.severity.rawValue)")
        }
        return Dictionary(grouping: found, by: \.0).mapValues { $0.map(\.1) }
    }

    @Test
    func `App in the style of Apple's sample: findings in its texts, and in the code for failures`() {
        let found = findings([
            "Scanning.swift": SampleStyle.scanning, "Writing.swift": SampleStyle.writing,
            "Info.plist": SampleStyle.information, "Reader.entitlements": SampleStyle.entitlements,
        ])
        #expect(found["Info.plist"] == ["2 CFG003 info", "2 TXT001 info"])
        #expect(
            found["Scanning.swift"] == [
                "24 SRC027 info", "33 TXT001 info", "40 SRC037 warning", "40 TXT001 info", "46 SRC037 warning",
                "46 TXT001 info", "50 SRC037 warning", "50 TXT001 info", "56 SRC037 warning", "56 TXT001 info",
                "58 TXT001 info",
            ]
        )
        #expect(
            found["Writing.swift"] == [
                "12 TXT001 warning", "20 TXT001 info", "27 SRC037 warning", "27 TXT001 info", "33 SRC037 warning",
                "33 TXT001 info", "39 SRC037 warning", "39 TXT001 info", "42 SRC037 warning", "42 TXT001 info",
                "46 TXT001 info", "52 SRC037 warning", "52 TXT009 info", "59 SRC037 warning", "59 TXT001 info",
            ]
        )
        #expect(found.count == 3)
    }

    @Test func `App in the style of Apple's sample, with texts that name the object to scan: no finding in its texts`()
    {
        var files = [
            "Scanning.swift": SampleStyle.scanning, "Writing.swift": SampleStyle.writing,
            "Info.plist": SampleStyle.information, "Reader.entitlements": SampleStyle.entitlements,
        ]
        let words = [
            ("Tag is not NDEF compliant.", "This badge has another format."),
            ("Tag is read only.", "This badge is locked."),
            ("Tag capacity is too small.", "This badge is too small."),
            ("Found 1 NDEF message.", "Your badge was read."),
            ("More than 1 tag is here. Remove all tags and try again.", "Hold one badge alone, and try again."),
            ("Unable to connect to the tag.", "The badge was not read."),
            ("Unknown status of the tag.", "The badge was not read."),
            ("Unable to query the status of the tag.", "The badge was not read."),
            ("Reading the NDEF tag failed.", "The badge was not read."), ("near an NDEF tag", "near a badge"),
            ("Writing the message failed: \\(error)", "The message was not written."),
            ("You can scan NFC tags to read NDEF messages.", "Badges are scanned to show their messages."),
        ]
        for (name, text) in files { files[name] = words.reduce(text) { $0.replacing($1.0, with: $1.1) } }
        #expect(
            findings(files) == [
                "Scanning.swift": ["24 SRC027 info"] + [40, 46, 50, 56].map { "\($0) SRC037 warning" },
                "Writing.swift": [27, 33, 39, 42, 52, 59].map { "\($0) SRC037 warning" },
            ]
        )
    }
}
