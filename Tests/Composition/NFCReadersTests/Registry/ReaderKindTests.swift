// SPDX-License-Identifier: Apache-2.0
import NFCReaders
import NFCRuntime
import SessionTesting
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
        #expect(ReaderKind.usage(for: .sessions) == "virtual, pcsc[:NAME], pn532:PATH, simulator[:PATH] or replay:FILE")
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

    @Test func `list the other readers of the machine too, unless one was named`() async throws {
        let field = VirtualField()
        let own = await ReaderInventory(using: field, isAlone: false, askingReaders: false)
        // It is not another reader.
        #expect(own.used.kind == "virtual" && !own.others.contains { $0.kind == "virtual" })
        let driver = try #require(NFCEnvironment(ReaderConfiguration(reader: "pn532:/dev/no-such-line")).driver)
        for isAlone in [true, false] {
            let inventory = await ReaderInventory(using: driver, isAlone: isAlone, askingReaders: false)
            #expect(inventory.used.name == driver.name && inventory.used.kind == "pn532")
            // What is not found on the machine is described by its kind.
            #expect(!inventory.used.capabilities.isEmpty)
            #expect(inventory.others.last?.kind == (isAlone ? nil : "virtual"))
            #expect(inventory.others.count { $0.kind == "virtual" } == (isAlone ? 0 : 1))
        }
    }

    @Test func `are asked for their readers only when those are listed`() async {
        let asked = Locked<[String]>([])
        let kinds = ReaderKind.all.map { kind in
            var kind = kind
            let scheme = kind.scheme
            if kind.reports != nil {
                kind.reports = { _ in
                    asked.withLock { $0.append(scheme) }
                    return []
                }
            }
            return kind
        }
        // A reader of PC/SC may have a card on it that is not to be disturbed.
        _ = await ReaderInventory(using: VirtualField(), among: kinds, isAlone: true, askingReaders: true)
        #expect(asked.withLock { $0 } == ["virtual"])
        _ = await ReaderInventory(using: VirtualField(), among: kinds, isAlone: false, askingReaders: true)
        #expect(asked.withLock { $0 } == ["virtual", "pcsc", "virtual"])
    }

    @Test func `report the reader that is used by its name and once, and describe it only where they don't`() async {
        var kind = ReaderKind.virtual
        kind.describe = { $0.capabilities = ["described"] }
        kind.reports = { _ in
            ["other", "virtual", "virtual"].map { name in
                var report = ReaderReport(name: name, kind: "virtual", technologies: [])
                report.firmware = "reported"
                return report
            }
        }
        for isAlone in [false, true] {
            let inventory = await ReaderInventory(
                using: VirtualField(),
                among: [kind],
                isAlone: isAlone,
                askingReaders: false
            )
            let used = inventory.used
            #expect(used.firmware == "reported" && used.capabilities.isEmpty && used.technologies.isEmpty)
            #expect(inventory.others.map(\.name) == (isAlone ? [] : ["other", "virtual"]))
        }
        let other = VirtualField(name: "elsewhere")
        let inventory = await ReaderInventory(using: other, among: [kind], isAlone: false, askingReaders: false)
        #expect(inventory.used.name == "elsewhere" && inventory.used.capabilities == ["described"])
        #expect(inventory.used.firmware == nil && inventory.others.count == 3)
    }

    @Test func `are not those of every driver, and one that is of none is reported by itself`() async {
        let reader = ActivatingReader(VirtualField())
        #expect(ReaderKind.of(reader) == nil)
        let inventory = await ReaderInventory(using: reader, among: [.virtual], isAlone: false, askingReaders: false)
        #expect(inventory.used.name == "model" && inventory.used.kind == nil && inventory.used.title == nil)
        #expect(inventory.used.technologies == reader.technologies && inventory.others.map(\.name) == ["virtual"])
    }

    @Test(arguments: [("simulator:/nowhere", "simulator"), ("pn532:/dev/no-such-line", "pn532")])
    func `own their drivers and no others, and describe them`(name: String, scheme: String) throws {
        let driver = try #require(NFCEnvironment(ReaderConfiguration(reader: name)).driver)
        #expect(ReaderKind.all.filter { $0.owns(driver) }.map(\.scheme) == [scheme])
        let kind = try #require(ReaderKind.of(driver))
        var report = ReaderReport(name: name, kind: scheme, technologies: [])
        kind.describe(&report)
        #expect(kind.scheme == scheme && !report.capabilities.isEmpty)
        if scheme == "pn532" { #expect(report.calls?.isEmpty == false) }
    }
}
