// SPDX-License-Identifier: Apache-2.0
import NFCLintEngine

extension Rule {
    static let longAIDList = Rule(
        id: "CFG034",
        severity: .info,
        title: "The AID list is long",
        why: "iOS selects the AIDs one after the other until a tag accepts one, so a long list slows detection.",
        fix: "Keep only the AIDs that the app uses, and put the most common first.",
        bad: [
            Example.plist(
                """
                <key>NFCReaderUsageDescription</key>
                <string>Badges are scanned to open doors.</string>
                <key>com.apple.developer.nfc.readersession.iso7816.select-identifiers</key>
                <array><string>A0000002471000</string><string>A0000002471001</string><string>A0000002471002</string><string>A0000002471003</string><string>A0000002471004</string><string>A0000002471005</string><string>A0000002471006</string><string>A0000002471007</string><string>A0000002471008</string><string>A0000002471009</string><string>A000000247100A</string><string>A000000247100B</string><string>A000000247100C</string><string>A000000247100D</string><string>A000000247100E</string><string>A000000247100F</string><string>A0000002471010</string><string>A0000002471011</string><string>A0000002471012</string><string>A0000002471013</string><string>A0000002471014</string><string>A0000002471015</string><string>A0000002471016</string><string>A0000002471017</string><string>A0000002471018</string><string>A0000002471019</string><string>A000000247101A</string><string>A000000247101B</string><string>A000000247101C</string><string>A000000247101D</string><string>A000000247101E</string><string>A000000247101F</string><string>A0000002471020</string><string>A0000002471021</string><string>A0000002471022</string><string>A0000002471023</string><string>A0000002471024</string><string>A0000002471025</string><string>A0000002471026</string><string>A0000002471027</string><string>A0000002471028</string><string>A0000002471029</string><string>A000000247102A</string><string>A000000247102B</string><string>A000000247102C</string><string>A000000247102D</string><string>A000000247102E</string><string>A000000247102F</string></array>
                """
            )
                + Example.tagReader
        ],
        good: [Example.usageAndIdentifier + Example.tagReader],
        check: { unit, findings in
            unit.forEachInfo(Keys.identifiers) { list, _ in
                let count = list.value.array?.count ?? 0
                guard count > 40 else { return }
                findings.add(
                    list.key,
                    "The list has \(count) AIDs. On a tag that has none of them, iOS tries them all."
                )
            }
        }
    )
}
