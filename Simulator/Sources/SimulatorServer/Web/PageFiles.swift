// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Finds the files of the page.
struct PageFiles: Sendable {
    /// A file to send to a browser.
    struct File: Sendable {
        var type: String
        var bytes: Data
    }

    /// The maximum size of a file, in bytes.
    static let maximumSize = 8 << 20

    private let folder: String

    /// - Parameter folder: the folder of the page's files.
    init(folder: String) {
        self.folder = folder
    }

    /// The files in the package's own bundle.
    static var bundled: PageFiles {
        PageFiles(folder: Bundle.module.bundlePath + "/Page")
    }

    /// The file at a URL path; nil if there is none. Path components contain only letters, digits, hyphens, underscores
    /// and periods, and don't begin with a period, so a path can't leave the folder.
    func file(_ path: String) -> File? {
        guard path.hasPrefix("/"), path.utf8.count <= 200 else { return nil }
        let relative = path == "/" ? "index.html" : String(path.dropFirst())
        let parts = relative.split(separator: "/", omittingEmptySubsequences: false)
        guard !parts.isEmpty, parts.count <= 8, parts.allSatisfy(Self.isName), let name = parts.last else { return nil }
        guard let type = Self.types[String(name.split(separator: ".").last ?? "")] else { return nil }
        let full = folder + "/" + relative
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: full),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? Int, size <= Self.maximumSize,
            let bytes = FileManager.default.contents(atPath: full)
        else { return nil }
        return File(type: type, bytes: bytes)
    }

    private static func isName(_ part: Substring) -> Bool {
        !part.isEmpty && !part.hasPrefix(".")
            && part.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F: true
                default: false
                }
            }
    }

    private static let types = [
        "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "mjs": "text/javascript; charset=utf-8", "css": "text/css; charset=utf-8",
        "json": "application/json; charset=utf-8", "svg": "image/svg+xml", "png": "image/png", "ico": "image/x-icon",
        "webmanifest": "application/manifest+json", "woff2": "font/woff2", "txt": "text/plain; charset=utf-8",
    ]
}
