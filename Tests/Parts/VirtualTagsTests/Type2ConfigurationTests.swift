// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagScripts
import Testing
import VirtualTags

@Suite struct `Configuration of NTAG21x and Ultralight EV1` {
    /// The products with a password.
    static let products = Type2Product.all.filter {
        $0.name.hasPrefix("NTAG21") || $0.name.hasPrefix("MIFARE Ultralight EV1")
    }

    /// A tag that is activated, and the number of its first configuration page.
    private func activated(_ product: Type2Product) async throws -> (Script, VirtualType2Tag, Int) {
        let tag = VirtualType2Tag(product, uid: Script.uid)
        let script = try Script(tag)
        try await script.activate()
        return (script, tag, try #require(product.firstConfigurationPage))
    }

    private func write(_ page: Int, _ bytes: String) -> String {
        "a2 " + hexText([UInt8(page)]) + " " + bytes
    }

    /// Activates a tag again that went to sleep after an error or by HLTA.
    private func reactivate(_ script: Script) async throws {
        #expect(await script.send("50 00") == "timeout")
        try await script.activate()
    }

    @Test func `Every product with a password is here`() {
        #expect(Self.products.count == 7)
    }

    @Test(arguments: products)
    func `A figure's pages are written in the order of its writers: AUTH0, ACCESS, then the locks`(
        _ product: Type2Product
    ) async throws {
        let (script, tag, first) = try await activated(product)
        #expect(await script.send(write(first + 3, "80 80 00 00")) == "ACK")
        #expect(await script.send(write(first + 2, "01 02 03 04")) == "ACK")
        #expect(await script.send(write(first, "00 00 00 04")) == "ACK")
        #expect(await script.send(write(first + 1, "5f 00 00 00")) == "ACK")
        if let lock = product.dynamicLockPage { #expect(await script.send(write(lock, "01 00 0f 00")) == "ACK") }
        #expect(await script.send("a2 02 00 00 0f e0") == "ACK")
        #expect(tag.contents.firstProtectedPage == 4)
        #expect(tag.contents.lockedPages.contains(15))

        try await reactivate(script)
        #expect(await script.send("a2 08 01 02 03 04") == "NAK 0")
        try await script.activate()
        #expect(await script.send("1b 01 02 03 04") == "80 80")
        #expect(await script.send("a2 08 01 02 03 04") == "ACK")
    }

    @Test(arguments: products)
    func `PROT and AUTH0 take effect when the power comes back`(_ product: Type2Product) async throws {
        let (script, _, first) = try await activated(product)
        #expect(await script.send(write(first, "00 00 00 05")) == "ACK")
        #expect(await script.send(write(first + 1, "80 05 00 00")) == "ACK")
        #expect(await script.send("30 05").count == 47)
        script.field.switchCarrier(false)
        script.field.switchCarrier(true)
        try await script.activate()
        #expect(await script.send("30 05") == "NAK 0")
    }

    @Test func `A password and PACK count at once`() async throws {
        let (script, _, first) = try await activated(.ntag215)
        #expect(await script.send(write(first + 2, "09 08 07 06")) == "ACK")
        #expect(await script.send(write(first + 3, "be ef 00 00")) == "ACK")
        #expect(await script.send("1b 09 08 07 06") == "be ef")
    }

    @Test func `The limit of wrong passwords counts from the next activation on`() async throws {
        let (script, tag, first) = try await activated(.ntag213)
        #expect(await script.send(write(first + 1, "01 00 00 00")) == "ACK")
        #expect(await script.send("1b 00 00 00 00") == "NAK 0")
        #expect(tag.contents.failedAuthentications == 0)
        for answer in ["NAK 0", "NAK 4"] {
            try await script.activate()
            #expect(await script.send("1b 00 00 00 00") == answer)
        }
    }

    @Test func `The mirror and the counter begin with the next activation`() async throws {
        let (script, _, first) = try await activated(.ntag213)
        #expect(await script.send(write(first, "44 00 04 ff")) == "ACK")
        #expect(await script.send(write(first + 1, "10 00 00 00")) == "ACK")
        #expect(await script.send("30 04").hasPrefix("01 03 a0 0c"))
        #expect(await script.send("39 02") == "NAK 0")
        try await script.activate()
        #expect(await script.send("30 04") == hexText(Array("04A1B2C3D4E580".utf8) + [0, 0]))
        #expect(await script.send("39 02") == "01 00 00")
    }

    @Test func `VCSL of Ultralight EV1 answers with the new VCTID from the next activation on`() async throws {
        let (script, _, first) = try await activated(.ultralightEV1UL11)
        let select = "4b" + String(repeating: " 00", count: 20)
        #expect(await script.send(write(first + 1, "00 77 00 00")) == "ACK")
        #expect(await script.send(select) == "05")
        try await reactivate(script)
        #expect(await script.send(select) == "77")
    }

    @Test func `A refusal by CFGLCK waits for power and not for an activation`() async throws {
        let (script, _, first) = try await activated(.ntag215)
        #expect(await script.send(write(first + 1, "40 00 00 00")) == "ACK")
        try await reactivate(script)
        #expect(await script.send(write(first, "04 00 00 ff")) == "ACK")
        script.field.switchCarrier(false)
        script.field.switchCarrier(true)
        try await script.activate()
        #expect(await script.send(write(first, "04 00 00 ff")) == "NAK 0")
    }

    // MARK: Faults

    @Test func `What a torn write leaves of AUTH0 is in effect when the tag comes back`() async throws {
        var starts: Set<UInt8> = []
        for seed in UInt64(0)..<40 {
            let (script, tag, first) = try await activated(.ntag215)
            // FF, which protects nothing, becomes 06: some bits are cleared and some are not.
            script.field.arm(.tear(duringWrite: 1, leaving: .mixed(seed: seed)))
            #expect(await script.send(write(first, "04 00 00 06")) == "timeout")
            script.field.arm(FaultPlan())
            script.field.bring(tag)
            let start = tag.contents.memory[first * 4 + 3]
            starts.insert(start)
            #expect(start & 0x06 == 0x06)
            try await script.activate()
            #expect(await script.send(write(Int(start) > 6 ? 6 : 5, "01 02 03 04")) == "ACK")
            if Int(start) < tag.product.pageCount {
                #expect(tag.contents.firstProtectedPage == Int(start))
                #expect(await script.send(write(Int(start), "01 02 03 04")) == "NAK 0")
            } else {
                #expect(tag.contents.firstProtectedPage == nil)
            }
        }
        #expect(starts.count > 10)
    }

    @Test(arguments: [TornWrite.old, .new])
    func `A write of ACCESS that loses the power is in effect whole or not at all`(_ rest: TornWrite) async throws {
        let (script, tag, first) = try await activated(.ntag216)
        #expect(await script.send(write(first, "04 00 00 08")) == "ACK")
        script.field.arm(.tear(duringWrite: 1, leaving: rest))
        #expect(await script.send(write(first + 1, "80 00 00 00")) == "timeout")
        script.field.arm(FaultPlan())
        script.field.bring(tag)
        try await script.activate()
        #expect((await script.send("30 08") == "NAK 0") == (rest == .new))
        try await reactivate(script)
        #expect(await script.send(write(8, "01 02 03 04")) == "NAK 0")
    }

    @Test func `A tag that resets in a weak field goes by what was written before`() async throws {
        let (script, _, first) = try await activated(.ntag213)
        #expect(await script.send(write(first, "04 00 00 08")) == "ACK")
        script.field.arm(.weakField)
        #expect(await script.send(write(first + 1, "80 00 00 00")) == "timeout")
        script.field.arm(FaultPlan())
        try await script.activate()
        #expect(await script.send("30 08").count == 47)
        #expect(await script.send(write(8, "01 02 03 04")) == "NAK 0")
    }

    @Test func `A write of locks or of AUTH0 that a fault refuses changes nothing`() async throws {
        let (script, tag, first) = try await activated(.ntag213)
        for (page, bytes) in [(2, "00 00 10 00"), (first, "04 00 00 04")] {
            script.field.arm(FaultPlan([Fault(.refusal(0x5), at: .write(1))]))
            #expect(await script.send(write(page, bytes)) == "NAK 5")
            script.field.arm(FaultPlan())
            try await script.activate()
            #expect(await script.send("a2 04 01 02 03 04") == "ACK")
        }
        #expect(tag.contents.firstProtectedPage == nil)
    }
}
