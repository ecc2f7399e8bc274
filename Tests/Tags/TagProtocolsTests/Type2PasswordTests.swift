// SPDX-License-Identifier: Apache-2.0
import TagLink
import TagProtocols
import Testing
import VirtualTags

/// The password of NTAG21x and MIFARE Ultralight EV1.
@Suite struct Type2PasswordTests {
    private func activate(_ field: VirtualField) async throws -> Type2Tag {
        try await field.setCarrier(false)
        try await field.setCarrier(true)
        let link = try #require(field.link(for: .nfcA))
        let target = try #require(try await NFCAActivation(link: link).activateAll().last)
        return Type2Tag(target: target, link: link)
    }

    private func password(_ byte: UInt8) throws -> Type2Tag.Password {
        try #require(Type2Tag.Password([byte, 2, 3, 4], acknowledgement: [0xAB, 0xCD]))
    }

    private static let products: [Type2Product] = [
        .ntag210, .ntag212, .ntag213, .ntag215, .ntag216, .ultralightEV1UL11, .ultralightEV1UL21,
    ]

    @Test(arguments: products) func `A protected tag can be read by all and written with the password alone`(
        _ product: Type2Product
    ) async throws {
        let field = VirtualField()
        field.bring(VirtualType2Tag(product))
        let message: [UInt8] = [0xD0, 0x00, 0x00]
        try await activate(field).protect(with: password(1))
        let stranger = try await activate(field)
        #expect(try await stranger.readNDEF().isEmpty)
        await #expect(throws: TagError.self) { try await stranger.writeNDEF(message) }
        let owner = try await activate(field)
        try await owner.authenticate(password(1))
        try await owner.writeNDEF(message)
        #expect(try await activate(field).readNDEF() == message)
    }

    @Test func `The same password again changes nothing, and another one is refused`() async throws {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213))
        try await activate(field).protect(with: password(1))
        try await activate(field).protect(with: password(1))
        await #expect(throws: TagError(.authenticationFailed, "")) {
            try await activate(field).protect(with: password(2))
        }
        // The right password with a wrong acknowledgement is another tag's.
        let other = try #require(Type2Tag.Password([1, 2, 3, 4], acknowledgement: [0, 0]))
        await #expect(throws: TagError(.authenticationFailed, "")) { try await activate(field).authenticate(other) }
    }

    @Test(arguments: 0..<6) func `A tag that is lost in between is open, or protected with the password`(
        _ writes: Int
    ) async throws {
        let field = VirtualField()
        let tag = VirtualType2Tag(.ntag213)
        field.bring(tag)
        field.arm(.tear(afterWrite: writes))
        do {
            try await activate(field).protect(with: password(1))
        } catch {
            #expect((error as? TagError)?.code == .tagLost)
        }
        field.arm(FaultPlan())
        field.bring(tag)
        // Either way the same call completes it.
        try await activate(field).protect(with: password(1))
        try await activate(field).authenticate(password(1))
    }

    @Test func `A password that was just set is not read from the tag, like any other`() async throws {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag213))
        let tag = try await activate(field)
        try await tag.protect(with: password(1))
        let pages = try #require(try await tag.readPages(45))
        #expect(pages[43 * 4..<45 * 4].allSatisfy { $0 == 0 })
    }

    @Test func `The password is written before its acknowledgement`() async throws {
        let field = VirtualField()
        let tag = VirtualType2Tag(.ntag213)
        field.bring(tag)
        field.arm(.tear(afterWrite: 1))
        await #expect(throws: TagError(.tagLost, "")) { try await activate(field).protect(with: password(1)) }
        #expect(Array(tag.contents.memory[43 * 4..<45 * 4]) == [1, 2, 3, 4, 0, 0, 0, 0])
    }

    @Test func `Tags without a password say so, and lengths are checked`() async throws {
        let field = VirtualField()
        field.bring(VirtualType2Tag(.ntag203))
        await #expect(throws: TagError(.unsupported, "")) { try await activate(field).protect(with: password(1)) }
        #expect(Type2Tag.Password([1, 2, 3]) == nil)
        #expect(Type2Tag.Password([1, 2, 3, 4], acknowledgement: [1]) == nil)
    }

    @Test func `A tag that was set to hide itself can be read by all once it is protected`() async throws {
        let field = VirtualField()
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory[42 * 4] = 0x80
        let tag = VirtualType2Tag(contents)
        field.bring(tag)
        try await activate(field).protect(with: password(1))
        #expect(tag.contents.memory[42 * 4] == 0x00)
        #expect(try await activate(field).readNDEF().isEmpty)
    }

    /// AUTH0, ACCESS, and the error.
    @Test(arguments: [(UInt8(0xFF), UInt8(0x40), TagError.Code.readOnly), (0x04, 0x80, .refused)])
    func `A configuration that is locked or hidden is left alone`(
        start: UInt8,
        access: UInt8,
        code: TagError.Code
    ) async throws {
        let field = VirtualField()
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory[41 * 4 + 3] = start
        contents.memory[42 * 4] = access
        let tag = VirtualType2Tag(contents)
        field.bring(tag)
        await #expect(throws: TagError(code, "")) { try await activate(field).protect(with: password(1)) }
        #expect(field.writeCount == 0)
        #expect(tag.contents.memory == contents.memory)
    }

    @Test func `Protecting keeps the other settings, and covers the lock bits too`() async throws {
        let field = VirtualField()
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        // Strong modulation, and five attempts with a wrong password.
        contents.memory.replaceSubrange(41 * 4..<41 * 4 + 8, with: [0x04, 0x00, 0x05, 0xFF, 0x85, 0x00, 0x00, 0x00])
        let tag = VirtualType2Tag(contents)
        field.bring(tag)
        try await activate(field).protect(with: password(1))
        #expect(
            Array(tag.contents.memory[41 * 4..<41 * 4 + 8]) == [0x04, 0x00, 0x05, 0x02, 0x05, 0x00, 0x00, 0x00]
        )
    }

    /// ACCESS, and the writes: the password, its acknowledgement, AUTH0, and ACCESS where it changes.
    @Test(arguments: [(UInt8(0x00), 3), (0x05, 3), (0x85, 4)])
    func `Protecting writes no page that stays the same`(access: UInt8, writes: Int) async throws {
        let field = VirtualField()
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory[42 * 4] = access
        field.bring(VirtualType2Tag(contents))
        try await activate(field).protect(with: password(1))
        #expect(field.writeCount == writes)
    }

    /// The last page is 2C: a password from there on is one, and from the page after it on it is none.
    @Test(arguments: [(UInt8(0x2C), TagError.Code.authenticationFailed), (0x2D, nil)] as [(UInt8, TagError.Code?)])
    func `A password that covers no more than the last page is one already`(
        start: UInt8,
        code: TagError.Code?
    ) async throws {
        let field = VirtualField()
        var contents = Type2Contents(blank: .ntag213, uid: [4, 1, 2, 3, 4, 5, 6])
        contents.memory[41 * 4 + 3] = start
        let tag = VirtualType2Tag(contents)
        field.bring(tag)
        let reader = try await activate(field)
        let wanted = try password(1)
        do throws(TagError) {
            try await reader.protect(with: wanted)
            #expect(code == nil && tag.contents.memory[41 * 4 + 3] == 0x02)
        } catch {
            #expect(error.code == code && field.writeCount == 0)
        }
    }
}
