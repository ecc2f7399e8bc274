// SPDX-License-Identifier: Apache-2.0
import TagProtocols
import VirtualTags

/// What can be said of a Type 2 tag's image without a command of its own.
struct TagDescription {
    private let contents: Type2Contents
    private let report: TagReport
    private let error: TagError?

    init(contents: Type2Contents, report: TagReport, error: TagError?) {
        self.contents = contents
        self.report = report
        self.error = error
    }

    private var product: Type2Product { contents.product }

    private var userOctets: Int { product.userPages.count * 4 }

    /// The lock octets in page 2, and the capability container in page 3.
    private var staticLock: ArraySlice<UInt8> { contents.memory.dropFirst(10).prefix(2) }
    private var capabilityContainer: ArraySlice<UInt8> { contents.memory.dropFirst(12).prefix(4) }

    /// The lock octets right behind the data, which products with more than 20 pages have.
    private var dynamicLock: ArraySlice<UInt8>? {
        guard product.pageCount > 20 else { return nil }
        return contents.memory.dropFirst((product.userPages.upperBound + 1) * 4).prefix(3)
    }

    private var hasSignature: Bool { contents.signature.contains { $0 != 0 } }

    func printJSON() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("ok", true)
        writer.member("tag_type", 2)
        writer.member("product", product.name)
        writer.member("uid", hex: contents.uid)
        writer.member("atqa", hex: [UInt8(contents.atqa >> 8), UInt8(contents.atqa & 0xFF)])
        writer.member("sak", hex: [contents.sak])
        if let version = contents.version { writer.member("version_hex", hex: version) }
        if hasSignature { writer.member("signature_hex", hex: contents.signature) }
        writer.member("pages", product.pageCount)
        writer.member("memory_size", product.pageCount * 4)
        writer.member("user_size", userOctets)
        writer.member("static_lock_hex", hex: staticLock)
        if let dynamicLock { writer.member("dynamic_lock_hex", hex: dynamicLock) }
        writer.member("cc_hex", hex: capabilityContainer)
        if let status = report.status { writer.member("status", status.rawValue) }
        if let capacity = report.capacity { writer.member("capacity", capacity) }
        if let message = report.message { writer.member("message_hex", hex: message) }
        if let error {
            writer.member("ndef_error", error.code.description)
            writer.member("message", error.reason)
        }
        writer.endObject()
        writer.printLine()
    }

    /// The description as people read it.
    var lines: [String] {
        var plain = report
        plain.cost = nil
        var lines = [
            "Product    \(product.name)",
            "UID        \(HexText.text(contents.uid))",
            "Version    \(contents.version.map { HexText.text($0) } ?? "no GET_VERSION")",
            "Signature  \(hasSignature ? HexText.text(contents.signature) : "none")",
            "Memory     \(product.pageCount) pages, \(userOctets) octets for data",
            "Locks      \(lockText)",
            "CC         \(HexText.text(capabilityContainer))",
        ]
        lines += plain.lines.dropFirst()
        if let error { lines.append(error.reason) }
        return lines
    }

    private var lockText: String {
        let octets = "static \(HexText.text(staticLock))" + (dynamicLock.map { ", dynamic \(HexText.text($0))" } ?? "")
        let isFree = staticLock.allSatisfy { $0 == 0 } && (dynamicLock ?? []).allSatisfy { $0 == 0 }
        return isFree ? "none (\(octets))" : octets
    }
}
