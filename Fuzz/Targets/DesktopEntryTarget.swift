// SPDX-License-Identifier: Apache-2.0
// modules: NDEF TextSafety UniversalLinks BackgroundTagReading
@testable import BackgroundTagReading

private let link = "https://example.com/a?b=%20c"

/// Any desktop entry is read or refused. Its command is refused for a reason, or starts its program with arguments within
/// their limit. If it takes a link, it gets the complete link once.
@c(LLVMFuzzerTestOneInput)
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    guard let entry = DesktopEntry(parsing: bytes) else { return 0 }
    guard entry.name.utf8.count <= 1024 else { fatalError("A name over its limit.") }
    guard entry.schemes.allSatisfy(LinkScheme.isCustom) else { fatalError("A scheme that is no app's own.") }
    guard let text = entry.command else { return 0 }
    do throws(AppError) {
        let command = try StartCommand(parsing: text)
        let words = command.arguments(uri: link, entry: entry, path: "/a")
        guard words.first == command.program else { fatalError("Another program.") }
        let size = words.reduce(0) { $0 + $1.utf8.count }
        let parts = 1 + text.utf8.count / 2
        guard
            size <= text.utf8.count + parts * (entry.name.utf8.count + 8 + (entry.icon?.utf8.count ?? 0))
                + link.utf8.count
        else { fatalError("Words of \(size) bytes from a command of \(text.utf8.count).") }
        guard words.contains(where: { $0.contains(link) }) || !command.takesURI else { fatalError("The link is lost.") }
        guard !command.arguments(uri: nil, entry: entry, path: "/a").isEmpty else { fatalError("No program.") }
    } catch {
        guard error.reason.hasSuffix(".") else { fatalError("No sentence: \(error.reason)") }
    }
    return 0
}
