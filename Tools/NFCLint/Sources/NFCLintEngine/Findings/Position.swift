// SPDX-License-Identifier: Apache-2.0

/// A place in a text: line and column, counted from 1; the column is in bytes of UTF-8.
public struct Position: Sendable, Hashable, Comparable {
    /// The line, from 1.
    public var line: Int
    /// The column in bytes, from 1.
    public var column: Int

    /// A place.
    public init(line: Int = 1, column: Int = 1) {
        self.line = line
        self.column = column
    }

    /// Lines first, then columns.
    public static func < (left: Position, right: Position) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A place in a file of the project.
public struct Place: Sendable, Hashable, Comparable {
    /// The file's path, relative to the project's folder.
    public var path: String
    /// The place in it.
    public var position: Position

    /// A place; the beginning of the file without a position.
    public init(_ path: String, _ position: Position = Position()) {
        self.path = path
        self.position = position
    }

    /// By path, then by position.
    public static func < (left: Place, right: Place) -> Bool {
        (left.path, left.position) < (right.path, right.position)
    }
}
