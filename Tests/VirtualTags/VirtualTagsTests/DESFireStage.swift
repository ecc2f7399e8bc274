// SPDX-License-Identifier: Apache-2.0
import TagScripts
import Testing
import VirtualTags

/// The contents of a DESFire card from a line: `ndef` or `blank`, then fields.
///
/// Files of application 1: `1 = standard 07*100`, `2 = backup 00`, `3 = value 0 100 50`, `4 = linear 2 4 a1 a2`,
/// `5 = cyclic 2 3`. `rights 1 = 1110`, `iso 1 = e101`, `mode 1 = 3` change a file; `settings = 0b` and `keys = 82` the
/// application; `card = 0b` the card's settings. `size = 2`, `ev2`, `ev3`, `free = 31`, `apps = 3`.
func desfire(_ text: String) throws -> DESFireContents {
    let fields = text.split(separator: ";").map { field in
        let sides = field.split(separator: "=").map { $0.trimmingSpaces() }
        return (name: sides[0], value: sides.count > 1 ? sides[1] : "")
    }
    func value(_ name: String) -> String? { fields.first { $0.name == name }?.value }
    let sizes: [String: DESFireContents.Size] = ["2": .kilobytes2, "8": .kilobytes8]
    let size = value("size").flatMap { sizes[$0] } ?? .kilobytes4
    let generation: DESFireContents.Generation = value("ev2") != nil ? .ev2 : value("ev3") != nil ? .ev3 : .ev1
    if fields.first?.name == "ndef" { return .ndef(generation: generation, size: size) }
    var contents = DESFireContents(generation: generation, size: size)
    contents.keySettings = value("card").map { hex($0)[0] } ?? 0x0F
    guard fields.first?.name != "blank" else { return contents }
    var application = DESFireApplication(
        identifier: 1,
        keySettings: value("settings").map { hex($0)[0] } ?? 0x0F,
        keyCount: value("keys").map { hex($0)[0] } ?? 0x21
    )
    for number in UInt8(0)..<16 {
        guard let words = value("\(number)")?.split(separator: " ").map(String.init) else { continue }
        func integer(_ index: Int) -> Int { index < words.count ? Int(words[index]) ?? 0 : 0 }
        let repeated = words.last?.split(separator: "*").map(String.init) ?? []
        let bytes =
            (2...).contains(repeated.count)
            ? [UInt8](repeating: hex(repeated[0])[0], count: Int(repeated[1]) ?? 0) : hex(words.dropFirst().joined())
        let kind: DESFireFile.Kind =
            switch words[0] {
            case "standard": .standard(bytes)
            case "backup": .backup(bytes)
            case "value":
                .value(
                    lower: Int32(integer(1)),
                    upper: Int32(integer(2)),
                    current: Int32(integer(3)),
                    limitedCredit: false
                )
            case "linear":
                .linearRecords(size: integer(1), maximum: integer(2), records: hex(words.dropFirst(3).joined()))
            default: .cyclicRecords(size: integer(1), maximum: integer(2), records: hex(words.dropFirst(3).joined()))
            }
        func word(_ name: String) -> UInt16? {
            value("\(name) \(number)").map { hex($0).reduce(0) { $0 << 8 | UInt16($1) } }
        }
        application.files.append(
            DESFireFile(
                number: number,
                isoIdentifier: word("iso"),
                communication: CommunicationSettings(rawValue: UInt8(word("mode") ?? 0)),
                accessRights: FileAccessRights(rawValue: word("rights") ?? 0xEEEE),
                kind: kind
            )
        )
    }
    contents.applications = [application]
    for other in 1..<max(1, Int(value("apps") ?? "") ?? 1) {
        contents.applications.append(DESFireApplication(identifier: UInt32(other + 1)))
    }
    if let free = value("free").flatMap({ Int($0) }) { contents.freeMemory = free }
    return contents
}

/// A stage with a reader in front of a DESFire card. `mark` and `changed` compare its contents; `app` selects
/// application 1.
func desfireStage(
    _ contents: DESFireContents,
    isWrapped: Bool = false,
    keys: [String: DESFireKey] = [:]
) -> Stage {
    let box = CardBox(DESFireCard(contents))
    var marked = contents
    let stage = CardReader(box: box, isWrapped: isWrapped).stage(
        keys: keys,
        verbs: [
            "mark": { _ in
                marked = held(box)
                return "ok"
            },
            "changed": { _ in held(box) == marked ? "no" : "yes" },
            "app": { _ in
                let answer = box.process(isWrapped ? hex("90 5a 00 00 03 01 00 00 00") : hex("5a 01 00 00"))
                return answer == (isWrapped ? [0x91, 0x00] : [0x00]) ? "ok" : hexText(answer)
            },
        ]
    )
    stage.names = ["SELECT": "00 a4 04 00 07 d2 76 00 00 85 01 01 00", "NAME": "00 a4 04 00 07 d2 76 00 00 85 01"]
    return stage
}

/// What a DESFire card holds.
func held(_ box: CardBox) -> DESFireContents { (box.card as? DESFireCard)?.contents ?? DESFireContents() }
