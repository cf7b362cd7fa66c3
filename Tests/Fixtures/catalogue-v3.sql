-- Not written by version 3's program: version 2's catalogue with the tables of version 3, and one job entered by hand.
CREATE TABLE categories (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    display_name TEXT NOT NULL CHECK (display_name <> ''),
    name_key TEXT NOT NULL UNIQUE,
    position INTEGER NOT NULL,
    icon_resource TEXT,
    color_hex TEXT NOT NULL CHECK (length(color_hex) = 7),
    is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
    created_at INTEGER NOT NULL
) STRICT;
CREATE TABLE photos (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    uuid TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL UNIQUE CHECK (path <> ''),
    category_id INTEGER NOT NULL REFERENCES categories (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    caption TEXT,
    is_from_assets INTEGER NOT NULL CHECK (is_from_assets IN (0, 1)),
    created_at INTEGER NOT NULL,
    taken_at INTEGER,
    shown_at INTEGER NOT NULL GENERATED ALWAYS AS (coalesce(taken_at, created_at)) STORED,
    file_size INTEGER NOT NULL CHECK (file_size >= 0),
    width INTEGER NOT NULL CHECK (width >= 0),
    height INTEGER NOT NULL CHECK (height >= 0),
    is_favorite INTEGER NOT NULL CHECK (is_favorite IN (0, 1)),
    media_type TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    source_digest TEXT NOT NULL UNIQUE,
    source_size INTEGER NOT NULL,
    search_text TEXT NOT NULL
) STRICT;
CREATE TABLE sealed_fields (
    photo_id INTEGER NOT NULL REFERENCES photos (id) ON DELETE CASCADE,
    field TEXT NOT NULL CHECK (field IN
        ('childName', 'childAge', 'notes', 'tags', 'milestone', 'location', 'metadata')),
    sealed BLOB NOT NULL,
    PRIMARY KEY (photo_id, field)
) STRICT, WITHOUT ROWID;
CREATE TABLE trash (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL,
    path TEXT NOT NULL UNIQUE,
    category_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    caption TEXT,
    is_from_assets INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    taken_at INTEGER,
    file_size INTEGER NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    is_favorite INTEGER NOT NULL,
    media_type TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    source_digest TEXT NOT NULL,
    source_size INTEGER NOT NULL,
    category_name TEXT NOT NULL,
    category_color TEXT NOT NULL,
    category_icon TEXT,
    deleted_at INTEGER NOT NULL
) STRICT;
CREATE TABLE swipe_sessions (
    id TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL,
    ended_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE swipe_actions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session_id TEXT NOT NULL REFERENCES swipe_sessions (id) ON DELETE CASCADE,
    photo_uuid TEXT NOT NULL,
    content_digest TEXT NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('favorite', 'trash', 'keep')),
    decided_at INTEGER NOT NULL,
    is_processed INTEGER NOT NULL DEFAULT 0 CHECK (is_processed IN (0, 1))
) STRICT;
CREATE TABLE settings (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE discarded_files (
    path TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    method TEXT NOT NULL,
    params TEXT,
    role INTEGER NOT NULL,
    state TEXT NOT NULL,
    request TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    needs_attention INTEGER NOT NULL CHECK (needs_attention IN (0, 1)),
    progress TEXT,
    receipt TEXT,
    error TEXT,
    checkpoint BLOB,
    checkpoints INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    attempts_mark INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE job_lines (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    number INTEGER NOT NULL CHECK (number >= 0),
    item TEXT NOT NULL,
    outcome TEXT NOT NULL,
    detail TEXT,
    PRIMARY KEY (job, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE job_outcomes (
    job INTEGER NOT NULL REFERENCES jobs (number) ON DELETE CASCADE,
    outcome TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (job, outcome)
) STRICT, WITHOUT ROWID;
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (1, 'Family', 'family', 0, NULL, '#E91E63', 1, 1795242922943);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (2, 'Cars', 'cars', 1, NULL, '#F44336', 1, 1795242922944);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (3, 'Games', 'games', 2, NULL, '#9C27B0', 1, 1795242922944);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (4, 'Sports', 'sports', 3, NULL, '#4CAF50', 1, 1795242922944);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (5, 'Été 2009', 'été 2009', 4, NULL, '#00AA11', 0, 1795242924978);
INSERT INTO categories (id, display_name, name_key, position, icon_resource, color_hex, is_default, created_at) VALUES (6, 'Großeltern', 'grosseltern', 5, NULL, '#2196F3', 0, 1795242925032);
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text) VALUES (1, '5ebc3321-3772-491f-86ff-b6605460f475', 'photos/IMG_20240601_120202_5eabd074.jpg', 5, 'sample-0002', 'Strand & Möwen, 100 % "blau"', 0, 1795242925120, 1717243322250, 2145, 64, 48, 1, 'image/jpeg', 'c8429ee30a330ca2ce5149d5a1383f0e535ff406414988eebd24cbb4936e4eb1', 'c8429ee30a330ca2ce5149d5a1383f0e535ff406414988eebd24cbb4936e4eb1', 2145, 'sample-0002
strand & mowen, 100 % "blau"
photos/img_20240601_120202_5eabd074.jpg');
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text) VALUES (2, '11412263-8cfb-45b3-afe4-e518a47ff65a', 'photos/IMG_20240601_110101_83b76aff.jpg', 5, 'sample-0001', 'it''s ÉTÉ', 0, 1795242925125, 1717239661250, 2161, 64, 48, 0, 'image/jpeg', 'a54ca8aa5c1f59199c23fa927ef508f672a3d8818817f3dfc361f88c2a7cdff6', 'a54ca8aa5c1f59199c23fa927ef508f672a3d8818817f3dfc361f88c2a7cdff6', 2161, 'sample-0001
it''s ete
photos/img_20240601_110101_83b76aff.jpg');
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text) VALUES (3, '2a36c5b5-77ef-4c7a-8c71-1cb6eb016b53', 'photos/IMG_20240601_130303_6ef39475.jpg', 5, 'sample-0003', NULL, 0, 1795242925130, 1717246983250, 2269, 64, 48, 1, 'image/jpeg', '5f94329d24faaa53c52ee27577d3945920642658aee860d23eb45e2f8478384f', '5f94329d24faaa53c52ee27577d3945920642658aee860d23eb45e2f8478384f', 2269, 'sample-0003

photos/img_20240601_130303_6ef39475.jpg');
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text) VALUES (4, '0310a552-1ee2-4395-bd1b-42aa0584b681', 'photos/IMG_20240601_150505_3df45e79.jpg', 6, 'sample-0005', NULL, 0, 1795242925139, 1717254305250, 2184, 64, 48, 0, 'image/jpeg', 'c281c14005a8af6c03739695e0a833090a6210caafa6128c2e9c5c06d0b8863e', 'c281c14005a8af6c03739695e0a833090a6210caafa6128c2e9c5c06d0b8863e', 2184, 'sample-0005

photos/img_20240601_150505_3df45e79.jpg');
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text) VALUES (5, 'e3031a87-77ef-42c4-b59f-21ad89d69cbb', 'photos/IMG_20240601_140404_f3b74926.jpg', 5, 'sample-0004', NULL, 0, 1795242925141, 1717250644250, 2162, 64, 48, 0, 'image/jpeg', 'd55787bf3cf23fde5b81114b2802ed4d57f7b6181d9c8ec27321cc6c4769b7a2', 'd55787bf3cf23fde5b81114b2802ed4d57f7b6181d9c8ec27321cc6c4769b7a2', 2162, 'sample-0004

photos/img_20240601_140404_f3b74926.jpg');
INSERT INTO photos (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, search_text) VALUES (6, 'd6041b69-2390-4271-82ca-8954fd900dc4', 'photos/IMG_20240601_100000_48a0e8ac.jpg', 6, 'sample-0000', NULL, 0, 1795242925145, 1717236000250, 2284, 64, 48, 0, 'image/jpeg', '677d0425a2baef726513e761683e4da35e230df0202f8062c18fd1363275617a', '677d0425a2baef726513e761683e4da35e230df0202f8062c18fd1363275617a', 2284, 'sample-0000

photos/img_20240601_100000_48a0e8ac.jpg');
INSERT INTO trash (id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, is_favorite, media_type, content_digest, source_digest, source_size, category_name, category_color, category_icon, deleted_at) VALUES (7, 'b978d4cf-0589-43ad-9e1a-14aadc7d4490', 'photos/IMG_20240601_160606_8f74bf7a.jpg', 5, 'sample-0006', NULL, 0, 1795242925147, 1717257966250, 2296, 64, 48, 0, 'image/jpeg', 'e5bb94ba62cd77fb7e463a440bea045bdcd3586a0e1cb4241825639ba50bd2ae', 'e5bb94ba62cd77fb7e463a440bea045bdcd3586a0e1cb4241825639ba50bd2ae', 2296, 'Été 2009', '#00AA11', NULL, 1795242925261);
INSERT INTO swipe_sessions (id, started_at, ended_at) VALUES ('88b98abc-71e0-48ea-9758-40d2ece57d8e', 1795242925273, 1795242953060);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed) VALUES (1, '88b98abc-71e0-48ea-9758-40d2ece57d8e', '11412263-8cfb-45b3-afe4-e518a47ff65a', 'a54ca8aa5c1f59199c23fa927ef508f672a3d8818817f3dfc361f88c2a7cdff6', 'favorite', 1795242952999, 0);
INSERT INTO swipe_actions (id, session_id, photo_uuid, content_digest, action, decided_at, is_processed) VALUES (2, '88b98abc-71e0-48ea-9758-40d2ece57d8e', 'e3031a87-77ef-42c4-b59f-21ad89d69cbb', 'd55787bf3cf23fde5b81114b2802ed4d57f7b6181d9c8ec27321cc6c4769b7a2', 'keep', 1795242953042, 0);
INSERT INTO settings (key, value) VALUES ('defaultCategoriesInitialized', 'true');
INSERT INTO jobs (number, id, method, params, role, state, request, started_at, ended_at, needs_attention, progress, receipt, error, checkpoint, checkpoints, attempts, attempts_mark) VALUES (1, '3f0e7c1a-1d0b-4a64-9a6e-6f3d1b1c2d3e', 'library.import', NULL, 2, 'finished', 'import', 1795242925000, 1795242926000, 0, NULL, NULL, NULL, NULL, 0, 0, 0);
INSERT INTO job_lines (job, number, item, outcome, detail) VALUES (1, 0, 'sample-0001.jpg', 'imported', NULL);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (name, seq) VALUES ('categories', 6);
INSERT INTO sqlite_sequence (name, seq) VALUES ('jobs', 1);
INSERT INTO sqlite_sequence (name, seq) VALUES ('photos', 7);
INSERT INTO sqlite_sequence (name, seq) VALUES ('swipe_actions', 2);
CREATE INDEX photos_by_date ON photos (shown_at DESC, id DESC);
CREATE INDEX photos_by_category ON photos (category_id, shown_at DESC, id DESC);
CREATE INDEX photos_favorite ON photos (shown_at DESC, id DESC) WHERE is_favorite = 1;
CREATE INDEX photos_by_content ON photos (content_digest);
CREATE INDEX photos_by_source_size ON photos (source_size);
CREATE INDEX trash_by_date ON trash (deleted_at DESC, id DESC);
CREATE INDEX swipe_actions_by_session ON swipe_actions (session_id, id);
CREATE INDEX swipe_actions_pending ON swipe_actions (id) WHERE is_processed = 0;
CREATE INDEX swipe_actions_by_photo ON swipe_actions (photo_uuid, id) WHERE is_processed = 0;
