// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import TagLink
import Testing
import VirtualTags

/// Checks the list of reader kinds, and what is read from it.
@Suite struct `Kinds of readers` {
    @Test func `have a scheme each, which begins all their names`() {
        #expect(Set(ReaderKind.all.map(\.scheme)).count == ReaderKind.all.count)
        for kind in ReaderKind.all {
            #expect(kind.usage.hasPrefix(kind.scheme) && !kind.forms.isEmpty)
            for form in kind.forms {
                let name = ReaderName(form)
                #expect(ReaderKind.named(name)?.scheme == kind.scheme)
            }
        }
        #expect(ReaderKind.named(ReaderName("PCSC")) == nil && ReaderKind.named(ReaderName(":pcsc")) == nil)
    }

    @Test func `are listed in help texts by what they are of use for`() {
        #expect(ReaderKind.usage(for: .sessions) == "virtual, pcsc[:NAME], pn532:PATH or replay:FILE")
        #expect(ReaderKind.usage(for: .trials) == "virtual, pcsc[:NAME] or pn532:PATH")
        #expect(ReaderKind.usage(for: .service) == "pcsc[:NAME] or pn532:PATH")
    }

    @Test(
        arguments: [
            ("pcsc", "pcsc", nil), ("pcsc:", "pcsc", ""), ("pcsc:A:B", "pcsc", "A:B"), ("", "", nil), (":", "", ""),
        ] as [(String, String, String?)]
    )
    func `are what a name begins with`(text: String, scheme: String, rest: String?) {
        let name = ReaderName(text)
        #expect(name.scheme == scheme && name.rest == rest && name.text == text)
    }

    @Test func `know their drivers, of which the used one is listed once`() async {
        let field = VirtualField()
        #expect(ReaderKind.of(field)?.scheme == "virtual")
        let inventory = await ReaderInventory(using: field, isAlone: true, askingReaders: false)
        #expect(inventory.used.name == "virtual" && inventory.used.kind == "virtual" && inventory.others.isEmpty)
        #expect(inventory.used.technologies == field.technologies && inventory.used.title == "virtual")
    }
}
