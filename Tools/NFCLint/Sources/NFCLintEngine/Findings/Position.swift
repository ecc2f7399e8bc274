// SPDX-License-Identifier: Apache-2.0

/// A position in a text: line and column, counted from 1. Columns count UTF-8 bytes.
public struct Position: Sendable, Hashable, Comparable {
    /// The line, counted from 1.
    public var line: Int
    /// The column in bytes, counted from 1.
    public var column: Int

    /// Creates a position.
    public init(line: Int = 1, column: Int = 1) {
        self.line = line
        self.column = column
    }

    /// Compares lines first, then columns.
    public static func < (left: Position, right: Position) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A location in a file of the project.
public struct Place: Sendable, Hashable, Comparable {
    /// The file's path, relative to the project's folder.
    public var path: String
    /// The position in the file.
    public var position: Position

    /// Creates a location. The default position is the beginning of the file.
    public init(_ path: String, _ position: Position = Position()) {
        self.path = path
        self.position = position
    }

    /// Compares paths first, then positions.
    public static func < (left: Place, right: Place) -> Bool {
        (left.path, left.position) < (right.path, right.position)
    }
}
