// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing

/// Finding, waking and selecting NFC-A tags: exact exchanges (ISO/IEC 14443-3, 6).
struct NFCAActivationTests {
    /// Runs a script of activations. Tags are named by their UID, `type1` for one without.
    static func check(_ script: String, selectsItself: Bool = false, _ place: SourceLocation = #_sourceLocation) async {
        let link = ScriptedLink()
        let activation = NFCAActivation(link: selectsItself ? SelfSelectingLink(link) : link)
        func text(_ target: NFCATarget) -> String {
            guard let sak = target.sak else { return "type1" }
            return "\(hex(target.uid)):\(String(target.atqa, radix: 16)):\(hex([sak]))"
        }
        await Script(script).run(on: link, place) { call in
            switch call.name {
            case "all", "wake-all":
                let limit = call.arguments.isEmpty ? 16 : call.number(0)
                let found = try await activation.activateAll(waking: call.name == "wake-all", limit: limit)
                return found.map(text).joined(separator: " ")
            case "find": return try await activation.activate(uid: call.bytes()).map(text) ?? "nil"
            case "again":
                let sak = call.arguments.count > 1 ? call.bytes(1)[0] : nil
                try await activation.reactivate(
                    NFCATarget(atqa: sak == nil ? 0x0C00 : 0x0004, sak: sak, uid: call.bytes())
                )
            case "halt": try await activation.halt()
            default: return "no such call"
            }
            return "ok"
        }
    }

    private static let sense = "> 26/7 < 0400\n"
    private static let wake = "> 52/7 < 0400\n"
    /// More than one tag answers.
    private static let crowd = "> 26/7 < collision\n"
    private static let nobody = "> 26/7 < silence\n"
    private static let halt = "> 5000 < silence\n"

    /// Anticollision and selection of the tag with the UID 010203 and a byte, which is also its check byte with 00.
    private static func select(_ last: String, sak: String = "00") -> String {
        "> ~9320 < 010203\(last)\(last); > 9370 010203\(last)\(last) < \(sak)\n"
    }

    // MARK: Finding all tags

    @Test func `NFC-A: UIDs of 4, 7 and 10 bytes take three, five and seven exchanges`() async {
        await Self.check("all: 01020304:4:20\n\(Self.sense)\(Self.select("04", sak: "20"))")
        await Self.check(
            """
            all: 04a1b2c3d4e580:44:00
            > 26/7 < 4400; > ~9320 < 8804a1b29f; > 9370 8804a1b29f < 04
            > ~9520 < c3d4e58072; > 9570 c3d4e58072 < 00
            """
        )
        let levels =
            "> 26/7 < 8400; > ~9320 < 8801020388; > 9370 8801020388 < 04; > ~9520 < 880405068f; > 9570 880405068f < 04\n"
        await Self.check("all: 0102030405060708090a:84:00; \(levels)> ~9720 < 0708090a0c; > 9770 0708090a0c < 00")
        await Self.check("all: -\n\(Self.nobody)")
        await Self.check("wake-all: 01020304:4:00\n\(Self.wake)\(Self.select("04"))")
        await Self.check("all 0: -")
        // A cascade bit at the third level, and one without the cascade tag.
        await Self.check("all: bad-answer; \(levels)> ~9720 < 880405068f; > 9770 880405068f < 04")
        await Self.check("all: bad-answer\n\(Self.sense)\(Self.select("04", sak: "04"))")
    }

    @Test func `NFC-A activation of a tag with seven bytes: 4.42 ms`() async throws {
        let link = ScriptedLink(
            exchanges:
                "> 26/7 < 4400; > ~9320 < 8804a1b29f; > 9370 8804a1b29f < 04; > ~9520 < c3d4e58072; > 9570 c3d4e58072 < 00"
        )
        _ = try await NFCAActivation(link: link).activateAll()
        #expect(abs(link.statistics.airtime.microseconds - 4420) < 10)
    }

    @Test func `NFC-A Type 1: a tag by its ATQA, also after others were halted, ends the search`() async {
        await Self.check("all: type1; > 26/7 < 000c")
        await Self.check("all: 01020304:4:00 type1; \(Self.crowd)\(Self.select("04"))\(Self.halt)> 26/7 < 000c")
    }

    @Test func `NFC-A collision: tags are separated by the bit, and the last one found is selected again`() async {
        // UIDs 01020304 and 01020704: byte 2 is 03 = 11000000 and 07 = 11100000 in order of arrival: bit 18.
        await Self.check(
            """
            all: 01020704:4:00 01020304:4:00
            \(Self.sense)> ~9320 < collision 18 010203
            > 9343 010207/3 < 800000/5; > 9370 0102070400 < 00
            \(Self.halt)\(Self.sense)\(Self.select("04"))
            """
        )
        // Bit 31 is the last of a UID, and a collision there leaves the check byte alone.
        await Self.check(
            """
            all: 01020384:4:00
            \(Self.sense)> ~9320 < collision 31 01020304
            > ~9360 01020384 < 84; > 9370 0102038484 < 00
            \(Self.halt)\(Self.nobody)\(Self.wake)> 9370 0102038484 < 00
            """
        )
        for place in ["collision", "collision -1", "collision 9 01", "collision 32 01020304"] {
            await Self.check("all: bad-answer; \(Self.sense)> ~9320 < \(place)")
        }
        // Tags that always collide.
        var steps = Self.sense
        var known: [UInt8] = []
        for round in 0..<33 {
            let bits = round % 8
            let request = "93" + hex([UInt8(2 + round / 8) << 4 | UInt8(bits)] + known)
            steps += "> " + (bits == 0 ? "~\(request)" : "\(request)/\(bits)") + " < collision 0\n"
            if bits == 0 { known.append(0) }
            known[round / 8] |= 1 << bits
        }
        await Self.check("all: bad-answer\n\(steps)")
    }

    @Test func `NFC-A ATQA that is damaged: asked for three times, then taken for that of several tags`() async {
        let found = "all: 01020304:4:00\n"
        for before in ["noise", "0400/7", "04", "040000"] {
            await Self.check("\(found)> 26/7 < \(before); \(Self.sense)\(Self.select("04"))")
        }
        await Self.check("\(found)2x > 26/7 < noise; \(Self.sense)\(Self.select("04"))")
        await Self.check("\(found)> 26/7 < noise; \(Self.nobody)\(Self.sense)\(Self.select("04"))")
        let back = "\(Self.halt)\(Self.nobody)\(Self.wake)> 9370 0102030404 < 00"
        await Self.check("\(found)3x > 26/7 < noise; \(Self.select("04"))\(back)")
        // A tag that made noise once is waited for over three silences.
        await Self.check("all: -; > 26/7 < noise; 3x \(Self.nobody)")
    }

    @Test func `NFC-A in a crowd: the size of the UID stands for the ATQA that nobody could read`() async {
        for (level, atqa, uid) in [
            (0, "4", "04050607"), (1, "44", "01020304050607"), (2, "84", "01020301020304050607"),
        ] {
            var steps = Self.crowd
            for code in ["93", "95"].prefix(level) {
                steps += "> ~\(code)20 < 8801020388; > \(code)70 8801020388 < 04\n"
            }
            let code = ["93", "95", "97"][level]
            await Self.check("all 1: \(uid):\(atqa):20; \(steps)> ~\(code)20 < 0405060700; > \(code)70 0405060700 < 20")
        }
    }

    @Test func `NFC-A failures: silence is tried three times, and a failing reader ends the search with its error`()
        async
    {
        let first = "\(Self.sense)> ~9320 < "
        let second = "\(Self.sense)> ~9320 < 0102030404; > 9370 0102030404 < "
        for lost in [first + "silence\n", second + "silence\n", second + "0000\n", second + "nak\n"] {
            await Self.check("all: 01020304:4:00\n\(lost)\(lost)\(Self.sense)\(Self.select("04"))")
            await Self.check("all: -\n\(lost)\(lost)\(lost)")
        }
        for (failure, code) in [
            ("cancelled", "cancelled"), ("unavailable", "reader-unavailable"), ("unsupported", "unsupported"),
            ("in-use", "reader-unavailable"),
        ] { for steps in ["> 26/7 < ", first, second] { await Self.check("all: \(code); \(steps)\(failure)") } }
        await Self.check("all: -; > 26/7 < removed")
        // An answer to anticollision of another length, with a wrong check byte or damaged is asked for again.
        for answer in ["01020304", "010203040400"] {
            await Self.check("all: 01020304:4:00\n\(first)\(answer)\n\(Self.select("04"))")
        }
        for (answer, code) in [("noise", "bad-answer"), ("0102030405", "bad-answer")] {
            await Self.check("all: 01020304:4:00; \(Self.sense)2x > ~9320 < \(answer); \(Self.select("04"))")
            await Self.check("all: \(code); \(Self.sense)3x > ~9320 < \(answer)")
        }
    }

    // MARK: Several tags

    @Test func `NFC-A several tags: each is listed once, and the last one that was halted is woken again`() async {
        let start = "\(Self.crowd)\(Self.select("04"))\(Self.halt)\(Self.crowd)\(Self.select("05"))\(Self.halt)"
        func woken(_ last: String, _ answer: String) -> String {
            "\(Self.wake)> 9370 010203\(last)\(last) < \(answer)\n"
        }
        await Self.check("all: 01020304:4:00 01020305:4:00\n\(start)\(Self.nobody)\(woken("05", "00"))")
        await Self.check(
            "all: 01020304:4:00\n\(start)\(Self.nobody)" + String(repeating: woken("05", "silence"), count: 3)
                + woken("04", "00")
        )
        await Self.check(
            "all: -\n\(start)\(Self.nobody)" + woken("05", "08") + String(repeating: woken("04", "silence"), count: 3)
        )
        await Self.check("all: reader-unavailable; \(start)\(Self.nobody)> 52/7 < unavailable")
        await Self.check("all: cancelled; \(Self.crowd)\(Self.select("04"))> 5000 < cancelled")
        // One that comes twice, and one that can't be halted and does not stand in for the last.
        await Self.check(
            "all: 01020304:4:00\n\(Self.crowd)\(Self.select("04"))\(Self.halt)\(Self.sense)\(Self.select("04"))"
        )
        await Self.check("all 1: 01020304:4:00\n\(Self.crowd)\(Self.select("04"))")
        await Self.check(
            "all: 01020304:4:00 01020305:4:00\n\(start)\(Self.sense)\(Self.select("04"))\(woken("05", "00"))"
        )
    }

    // MARK: One tag by its UID

    @Test func `NFC-A reactivation: the whole UID is selected, and another tag or SAK is tagLost`() async {
        let select = "> 9370 0102030404 < "
        for wake in ["0400", "collision", "noise"] {
            await Self.check("again 01020304 20; > 52/7 < \(wake); \(select)20")
        }
        // A tag that was active goes to sleep first.
        await Self.check("again 01020304 20; > 52/7 < silence; \(Self.wake)\(select)20")
        await Self.check(
            "again 01020304 20: tag-lost\n" + String(repeating: "\(Self.wake)\(select)silence\n", count: 3)
        )
        await Self.check("again 01020304 20: tag-lost\n\(Self.wake)\(select)00")
        await Self.check("again 01020304 20: cancelled; > 52/7 < cancelled")
        await Self.check("again 01020304 20: tag-lost; 3x > 52/7 < silence")
        let ten = "> 9370 8801020388 < 04; > 9570 880405068f < 04; > 9770 0708090a0c < 00"
        await Self.check("again 0102030405060708090a 00\n\(Self.wake)\(ten)")
        for uid in ["-", "010203", "0102030405", "0102030405060708"] {
            await Self.check("again \(uid) 00: unsupported")
        }
        await Self.check("again 01020304: unsupported")
    }

    @Test func `NFC-A reactivation by a reader that selects itself: its failure becomes the error`() async {
        for (answer, code) in [
            ("00", "ok"), ("silence", "tag-lost"), ("noise", "tag-lost"), ("collision", "tag-lost"),
            ("removed", "tag-lost"), ("cancelled", "cancelled"), ("unavailable", "reader-unavailable"),
            ("in-use", "reader-unavailable"), ("unsupported", "unsupported"), ("violation", "bad-answer"),
        ] {
            // The reader does not need to know how: a Type 1 tag has no anticollision.
            for target in ["01020304 20", "-"] {
                await Self.check("again \(target): \(code); > 00/1 < \(answer)", selectsItself: true)
            }
        }
    }

    @Test func `NFC-A activation by a UID: found with its own ATQA and SAK, or nil after three attempts`() async {
        let select = "> 9370 0102030404 < "
        await Self.check("find 01020304: 01020304:4:20\n\(Self.wake)\(select)20")
        await Self.check(
            "find 04a1b2c3d4e580: 04a1b2c3d4e580:344:00; > 52/7 < 4403; > 9370 8804a1b29f < 04; > 9570 c3d4e58072 < 00"
        )
        for start in ["> 52/7 < silence\n", "2x > 52/7 < silence\n", "\(Self.wake)\(select)silence\n"] {
            await Self.check("find 01020304: 01020304:4:20\n\(start)\(Self.wake)\(select)20")
        }
        for attempt in ["> 52/7 < silence\n"]
            + ["silence", "noise", "0000", "nak"].map({ "\(Self.wake)\(select)\($0)\n" })
        { await Self.check("find 01020304: nil\n\(attempt)\(attempt)\(attempt)") }
        // In a crowd the size of the UID stands for the ATQA.
        let level = "> 52/7 < collision; > 9370 8801020388 < 04\n"
        await Self.check("find 01020304: 01020304:4:20; > 52/7 < collision; \(select)20")
        await Self.check("find 01020304050607: 01020304050607:44:00; \(level)> 9570 0405060700 < 00")
        await Self.check(
            "find 0102030405060708090a: 0102030405060708090a:84:08; \(level)> 9570 880405068f < 04; > 9770 0708090a0c < 08"
        )
        // Bytes that are only the start of a UID, and UIDs of other lengths.
        await Self.check("find 8804a1b2: nil; \(Self.wake)> 9370 8804a1b29f < 04")
        for uid in ["-", "010203", "0102030405", "0102030405060708", "0102030405060708090a0b"] {
            await Self.check("find \(uid): nil")
        }
        for (failure, code) in [
            ("cancelled", "cancelled"), ("unavailable", "reader-unavailable"), ("unsupported", "unsupported"),
        ] {
            await Self.check("find 01020304: \(code); > 52/7 < \(failure)")
            await Self.check("find 01020304: \(code)\n\(Self.wake)\(select)\(failure)")
        }
    }
}
